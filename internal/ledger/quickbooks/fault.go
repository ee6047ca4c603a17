package quickbooks

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"

	"onefold/internal/ledger"
)

// Codes of faults (vendor: error codes).
var (
	// 600: this requestid was used; 6140: this number; 6240: this name. Each may be our own first send.
	codesThere = []string{"600", "6140", "6240"}
	codesWait  = []string{"3001"}
	// 120, 3100: no access to this company; 3200: the token; 6190: the subscription has ended. Nothing was carried out, and
	// only the owner can help.
	codesLogin = []string{"120", "3100", "3200", "6190"}
	// What is wrong is the request itself: a property that is not known, is missing or too long, or the requestid.
	codesFinal = []string{"2010", "2020", "2050", "2130"}
)

// fault is what went wrong; the zero value says nothing.
type fault struct {
	kind   string // in small letters
	errors []faultError
}

type faultError struct{ code, message, detail string }

// rawFault is a fault in JSON. QuickBooks' gateway writes all names small.
type rawFault struct {
	Type   string `json:"type"`
	Errors []struct {
		Message string          `json:"Message"`
		Detail  string          `json:"Detail"`
		Code    json.RawMessage `json:"code"`
	} `json:"Error"`
}

// xmlFault is a fault in XML: some come so although JSON was asked for.
type xmlFault struct {
	Fault struct {
		Type   string `xml:"type,attr"`
		Errors []struct {
			Message string `xml:"Message"`
			Detail  string `xml:"Detail"`
			Code    string `xml:"code,attr"`
		} `xml:"Error"`
	} `xml:"Fault"`
}

// fault returns the fault of an answer. Ok is false if it holds none of QuickBooks' making.
func (r response) fault(reply ledger.Reply) (f fault, ok bool) {
	if r.Fault != nil {
		f.kind = r.Fault.Type
		for _, e := range r.Fault.Errors {
			f.errors = append(f.errors, faultError{strings.Trim(string(e.Code), `"`), e.Message, e.Detail})
		}
	} else if body := bytes.TrimSpace(reply.Body); !reply.Cut && bytes.HasPrefix(body, []byte("<")) {
		var x xmlFault
		if xml.Unmarshal(body, &x) != nil {
			return f, false
		}
		f.kind = x.Fault.Type
		for _, e := range x.Fault.Errors {
			f.errors = append(f.errors, faultError{e.Code, e.Message, e.Detail})
		}
	}
	f.kind = strings.ToLower(f.kind)
	return f, f.kind != "" || len(f.errors) > 0
}

func (f fault) has(codes []string) bool {
	return slices.ContainsFunc(f.errors, func(e faultError) bool { return slices.Contains(codes, strings.TrimLeft(e.code, "0")) })
}

// validation reports whether QuickBooks looked at the request and did not take it.
func (f fault) validation() bool { return strings.Contains(f.kind, "validation") }

// duplicate goes by the text: the vendor's pages give the duplicate number different codes.
func (f fault) duplicate() bool {
	return slices.ContainsFunc(f.errors, func(e faultError) bool {
		return strings.Contains(strings.ToLower(e.message+" "+e.detail), "duplicate document number")
	})
}

// reason is what QuickBooks says, with its code.
func (f fault) reason() string {
	for _, e := range f.errors {
		said := e.detail
		if strings.TrimSpace(said) == "" {
			said = e.message
		}
		if strings.TrimSpace(said) == "" {
			continue
		}
		said = ledger.Short(said, ledger.MaxSentence-80)
		if e.code != "" && e.code != "null" {
			said += " (" + ledger.Short(e.code, 10) + ")"
		}
		return said
	}
	return "no reason given"
}
