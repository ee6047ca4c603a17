package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/bojanz/currency"
	"github.com/itchyny/gojq"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// errShape is an answer that is no JSON of the kind that the definition expects.
var errShape = errors.New("the accounting system's answer is not of the kind that its definition says")

// answered is the document of an answer: what was asked, and status, headers, body. A body that cannot be read is an
// error, whatever the definition says; an empty one is null with status 204 only.
func answered(reply ledger.Reply, shape string, d document) (document, error) {
	headers := map[string]any{}
	for name, values := range reply.Header {
		if name = strings.ToLower(name); name != "set-cookie" {
			headers[name] = strings.Join(values, ", ")
		}
	}
	body, err := bodyOf(reply, shape)
	return d.with(map[string]any{"status": reply.Status, "headers": headers, "body": body}), err
}

func bodyOf(reply ledger.Reply, shape string) (any, error) {
	if reply.Status == http.StatusNoContent && len(reply.Body) == 0 {
		return nil, nil
	}
	var raw json.RawMessage
	if err := reply.Object(&raw); err != nil && (shape == "object" || !errors.Is(err, ledger.ErrList)) {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(bytes.TrimSpace(reply.Body), []byte("\xef\xbb\xbf"))))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil, ledger.ErrJSON
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, ledger.ErrJSON
	}
	switch v.(type) {
	case map[string]any:
		if shape == "list" {
			return nil, errShape
		}
	case []any:
	default:
		if shape != "any" {
			return nil, errShape
		}
	}
	return v, nil
}

// of reads a record. A value that is missing or of the wrong type is an error: only "" says that the system does not tell.
func (r record) of(d document) (work.Record, error) {
	var out work.Record
	if _, ok := d.input.(map[string]any); !ok {
		return out, &wrong{r.line, "record", fmt.Sprintf("a record must be an object, not %s", gojq.TypeOf(d.input))}
	}
	id, err := r.id.value(d)
	if err != nil {
		return out, err
	}
	out.ID, _ = id.(string) // anything else is no id that we can trust
	for _, f := range []struct {
		by *expression
		to *string
	}{{r.reference, &out.Reference}, {r.customer, &out.Customer}} {
		if f.by != nil {
			if *f.to, err = f.by.text(d); err != nil {
				return out, err
			}
		}
	}
	for _, f := range []struct {
		by *expression
		to *string
	}{{r.number, &out.Number}, {r.url, &out.URL}} { // nothing depends on them
		if f.by != nil {
			if v, err := f.by.value(d); err == nil && v != nil {
				*f.to, _ = f.by.written(v)
			}
		}
	}
	if out.State, err = r.stateOf(d); err != nil {
		return out, err
	}
	out.Total, err = r.totalOf(d)
	return out, err
}

func (r record) stateOf(d document) (work.RecordState, error) {
	if r.state == nil {
		return work.StateUnknown, nil
	}
	v, err := r.state.text(d)
	if err != nil {
		return "", err
	}
	state := work.RecordState(v)
	if !slices.Contains([]work.RecordState{work.StateUnknown, work.StateDraft, work.StatePosted, work.StateVoid}, state) {
		return "", r.state.wrong("it must be draft, posted, void or \"\", not %q", ledger.Short(v, 40))
	}
	return state, nil
}

func (r record) totalOf(d document) (currency.Amount, error) {
	v, err := r.total.value(d)
	if err != nil {
		return currency.Amount{}, err
	}
	number, ok := decimal(v)
	if !ok {
		return currency.Amount{}, r.total.wrong("it must be a decimal number, not %s", gojq.TypeOf(v))
	}
	code, err := r.currency.text(d)
	if err != nil {
		return currency.Amount{}, err
	}
	total, err := currency.NewAmount(number, code)
	if err != nil {
		return currency.Amount{}, r.currency.wrong("%q is no currency that we know", ledger.Short(code, 20))
	}
	return total, nil
}
