package automation

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// cellType is what a sheet says about one cell beside its value.
type cellType struct {
	number bool
	style  int
}

// cellTypes reads the types of a sheet's cells, row by row. The values are read by excelize, which does not tell in its
// stream whether 1.234 is a number or a text.
type cellTypes struct {
	zip   *zip.ReadCloser
	part  io.ReadCloser
	xml   *xml.Decoder
	next  int // the row that was begun and not given out
	last  int
	ended bool
	cells []cellType
}

// openTypes begins with the sheet of the workbook at the path.
func openTypes(file, sheet string) (t *cellTypes, err error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, z.Close())
		}
	}()
	name, err := sheetPart(z, sheet)
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if strings.EqualFold(f.Name, name) {
			part, err := f.Open()
			if err != nil {
				return nil, err
			}
			return &cellTypes{zip: z, part: part, xml: xml.NewDecoder(io.LimitReader(part, maxUnpacked))}, nil
		}
	}
	return nil, fmt.Errorf("the workbook has no part %q", name)
}

func (t *cellTypes) close() {
	_ = t.part.Close()
	_ = t.zip.Close()
}

// sheetPart is the name of the part that holds the sheet.
func sheetPart(z *zip.ReadCloser, sheet string) (string, error) {
	root := struct {
		Links []struct {
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}{}
	if err := readPart(z, "_rels/.rels", &root); err != nil {
		return "", err
	}
	workbook := "xl/workbook.xml"
	for _, l := range root.Links {
		if strings.HasSuffix(l.Type, "/officeDocument") {
			workbook = strings.TrimPrefix(l.Target, "/")
		}
	}
	var sheets struct {
		Sheets []struct {
			Name  string     `xml:"name,attr"`
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := readPart(z, workbook, &sheets); err != nil {
		return "", err
	}
	id := ""
	for _, s := range sheets.Sheets {
		for _, a := range s.Attrs {
			if s.Name == sheet && a.Name.Local == "id" {
				id = a.Value
			}
		}
	}
	var links struct {
		Links []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	dir := path.Dir(workbook)
	if err := readPart(z, path.Join(dir, "_rels", path.Base(workbook)+".rels"), &links); err != nil {
		return "", err
	}
	for _, l := range links.Links {
		switch {
		case l.ID != id:
		case strings.HasPrefix(l.Target, "/"):
			return l.Target[1:], nil
		default:
			return path.Join(dir, l.Target), nil
		}
	}
	return "", fmt.Errorf("the workbook has no sheet %q", sheet)
}

func readPart(z *zip.ReadCloser, name string, into any) error {
	for _, f := range z.File {
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		part, err := f.Open()
		if err != nil {
			return err
		}
		err = xml.NewDecoder(io.LimitReader(part, 4<<20)).Decode(into)
		return errors.Join(err, part.Close())
	}
	return fmt.Errorf("the workbook has no part %q", name)
}

// row returns the types of the cells of a row, by place. Rows are asked for in order. They are good until the next call.
func (t *cellTypes) row(line int) ([]cellType, error) {
	t.cells = t.cells[:0]
	for !t.ended && (t.next == 0 || t.next <= line) {
		if t.next == line {
			t.next = 0
			err := t.read()
			return t.cells, err
		}
		if err := t.seek(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// seek goes to the beginning of the next row.
func (t *cellTypes) seek() error {
	for {
		token, err := t.xml.RawToken()
		if errors.Is(err, io.EOF) {
			t.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "row" {
			t.last++
			for _, a := range start.Attr {
				if n, err := strconv.Atoi(a.Value); a.Name.Local == "r" && err == nil && n > 0 {
					t.last = n
				}
			}
			t.next = t.last
			return nil
		}
		if end, ok := token.(xml.EndElement); ok && end.Name.Local == "sheetData" {
			t.ended = true
			return nil
		}
	}
}

// read reads the cells of the row that was begun.
func (t *cellTypes) read() error {
	at := 0
	for {
		token, err := t.xml.RawToken()
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.EndElement:
			if e.Name.Local == "row" {
				return nil
			}
		case xml.StartElement:
			if e.Name.Local != "c" {
				continue
			}
			at++
			c := cellType{number: true}
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "r":
					if at, _, err = excelize.CellNameToCoordinates(a.Value); err != nil {
						return err
					}
				case "s":
					c.style, _ = strconv.Atoi(a.Value)
				case "t":
					c.number = a.Value == "n" || a.Value == ""
				}
			}
			for len(t.cells) < at {
				t.cells = append(t.cells, cellType{})
			}
			t.cells[at-1] = c
		}
	}
}
