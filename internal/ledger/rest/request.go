package rest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/itchyny/gojq"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// asked is the invoice as expressions see it. Amounts and quantities are texts of decimal digits; what was not given is
// null; there is always a line.
func asked(v work.Invoice, reference string) map[string]any {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	total := v.Total.Round().Number()
	var lines []any
	for _, l := range v.Lines {
		lines = append(lines, map[string]any{"description": l.Description, "quantity": l.Quantity, "unit_price": l.UnitPrice, "tax_code": orNull(l.TaxCode)})
	}
	if len(lines) == 0 {
		description := v.Note
		if description == "" {
			description = reference
		}
		lines = []any{map[string]any{"description": description, "quantity": "1", "unit_price": total, "tax_code": nil}}
	}
	return map[string]any{"customer_id": v.CustomerID, "customer_name": orNull(v.CustomerName), "total": total, "currency": v.Total.CurrencyCode(),
		"issue_date": orNull(v.IssueDate), "due_date": orNull(v.DueDate), "note": orNull(v.Note), "lines": lines}
}

// call makes the request. Each value is escaped for the place where it stands.
func (r request) call(d document) (call ledger.Call, err error) {
	call = ledger.Call{Method: r.method, Header: http.Header{}}
	for _, s := range r.path {
		part, err := s.escaped(d)
		if err != nil {
			return call, err
		}
		call.Path += "/" + part
	}
	if call.Query, err = values(r.query, d); err != nil {
		return call, err
	}
	for _, h := range r.headers {
		v, err := h.value(d)
		if err != nil {
			return call, err
		}
		if len(v) > 1000 || strings.ContainsFunc(v, unicode.IsControl) {
			return call, &wrong{r.line, r.part + ".headers." + h.name, "the value holds characters that cannot be sent, or is too long"}
		}
		call.Header.Set(h.name, v)
	}
	switch {
	case r.body != nil:
		v, err := r.body.value(d)
		if err != nil {
			return call, err
		}
		switch v.(type) {
		case map[string]any, []any:
		default:
			return call, r.body.wrong("it must be an object or a list, not %s", gojq.TypeOf(v))
		}
		if call.Body, err = gojq.Marshal(withoutNull(v)); err != nil || !json.Valid(call.Body) {
			return call, r.body.wrong("it cannot be written as JSON")
		}
		if call.Header.Get("Content-Type") == "" {
			call.Header.Set("Content-Type", "application/json")
		}
	case r.form != nil:
		form, err := values(r.form, d)
		if err != nil {
			return call, err
		}
		call.Body = []byte(form.Encode())
		call.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return call, nil
}

var odataID = regexp.MustCompile(`^[A-Za-z0-9-]{1,100}$`)

func (s segment) escaped(d document) (string, error) {
	v, err := s.value(d)
	if err != nil {
		return "", err
	}
	switch {
	case s.odata != "" && !odataID.MatchString(v):
		return "", &wrong{s.line(), s.part(), "an id of letters, digits and hyphens is needed"}
	case s.odata != "":
		return s.odata + "(" + v + ")", nil
	case badSegment(strings.NewReplacer("/", "-", "\\", "-", "?", "-", "#", "-").Replace(v)):
		return "", &wrong{s.line(), s.part(), "a part of the path would be empty, dots or too long"}
	}
	return url.PathEscape(v), nil
}

func (t text) line() int {
	if t.made == nil {
		return 0
	}
	return t.made.line
}

func (t text) part() string {
	if t.made == nil {
		return "path"
	}
	return t.made.part
}

func values(list []named, d document) (url.Values, error) {
	out := url.Values{}
	for _, q := range list {
		v, err := q.value(d)
		if err != nil {
			return nil, err
		}
		if q.odata != "" {
			v = q.odata + " eq '" + strings.ReplaceAll(v, "'", "''") + "'"
		}
		out.Add(q.name, v)
	}
	return out, nil
}

// withoutNull leaves out the members of objects that are null: what was not given is not sent.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, one := range v {
			if one != nil {
				out[name] = withoutNull(one)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = withoutNull(one)
		}
		return out
	}
	return v
}
