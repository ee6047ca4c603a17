package statedoc_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"onefold/internal/work"
	"onefold/internal/work/statedoc"
)

// TestDocsAreFresh fails when the committed documents differ from what the code says.
func TestDocsAreFresh(t *testing.T) {
	all := statedoc.Derive()
	for name, want := range map[string]string{"state-machine.md": statedoc.Markdown(all), "state-machine.svg": statedoc.SVG(all)} {
		got, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s is out of date; run: go generate ./internal/work/...", name)
		}
	}
}

func TestTheProofLifeInTheTextIsTrue(t *testing.T) {
	if work.ProofLife.Minutes() != 15 || !strings.Contains(statedoc.Markdown(nil), "after 15 minutes") {
		t.Errorf("a proof holds for %s, the text says 15 minutes", work.ProofLife)
	}
}

// TestTheDrawingIsComplete: well-formed, and every status is in it.
func TestTheDrawingIsComplete(t *testing.T) {
	svg := statedoc.SVG(statedoc.Derive())
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range work.Statuses {
		if !strings.Contains(svg, ">"+string(s)+"</text>") {
			t.Errorf("%s is not drawn", s)
		}
	}
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("an arrow ends nowhere")
	}
}
