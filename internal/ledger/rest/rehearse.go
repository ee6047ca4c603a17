package rest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// rehearse makes the requests of made-up invoices, without sending them: expressions must give values, and what an
// invoice depends on must be in the request.
func rehearse(def *definition, values map[string]any) error {
	about := document{input: map[string]any{"settings": values, "drafts": false}, settings: values}
	code := "EUR"
	if v, ok := values["currency"].(string); ok && currency.IsValid(v) {
		code = v
	}
	detailed := sample("SAMPLE-1", "C-1", "119.00", code)
	detailed.invoice.Lines = []work.Line{{Description: "One", Quantity: "1", UnitPrice: "100.00", TaxCode: "T1"}, {Description: "Two", Quantity: "2", UnitPrice: "9.50"}}
	first := sample("SAMPLE-1", "C-1", "119.00", code)
	for i, s := range def.steps {
		plain, err := spelled(s.request.call(first.document(about, "KEY-1", "100001")))
		if err != nil {
			return err
		}
		var own *said // it may refuse what it is not for
		if _, err := s.request.call(detailed.document(about, "KEY-1", "100001")); err != nil && !errors.As(err, &own) {
			return err
		}
		for _, other := range []struct {
			what  string
			needs bool
			d     document
		}{
			{"our reference (.reference)", i == 0 && def.can.Searchable, sample("SAMPLE-2", "C-1", "119.00", code).document(about, "KEY-1", "100001")},
			{"the customer (.invoice.customer_id)", i == 0, sample("SAMPLE-1", "C-2", "119.00", code).document(about, "KEY-1", "100001")},
			{"the amount (.invoice.total or the lines)", i == 0, sample("SAMPLE-1", "C-1", "238.00", code).document(about, "KEY-1", "100001")},
			{"the key (.key), although keys are declared to be honoured", def.can.HonoursKeys, first.document(about, "KEY-2", "100001")},
			{"the record of the step before (.previous)", i > 0, first.document(about, "KEY-1", "100002")},
		} {
			if !other.needs {
				continue
			}
			call, err := spelled(s.request.call(other.d))
			if err != nil {
				return err
			}
			if call == plain {
				return &wrong{s.request.line, s.request.part, fmt.Sprintf("%s is nowhere in this request", other.what)}
			}
		}
	}
	if def.search != nil {
		ask := func(reference string) (string, error) {
			return spelled(def.search.request.call(about.with(map[string]any{"reference": reference, "page": def.search.first, "previous": "", "customer": nil, "since": nil})))
		}
		one, err := ask("SAMPLE-1")
		if err != nil {
			return err
		}
		two, err := ask("SAMPLE-2")
		if err != nil {
			return err
		}
		if one == two && !strings.Contains(def.search.records.source, "reference") {
			return &wrong{def.search.request.line, def.search.request.part, "our reference (.reference) is nowhere in this request, nor does records look for it"}
		}
	}
	return rehearseReads(def, about)
}

func rehearseReads(def *definition, about document) error {
	if _, err := def.identity.request.call(about); err != nil {
		return err
	}
	if def.identity.fixed != nil {
		if _, err := def.identity.fixed.text(about); err != nil {
			return err
		}
	}
	var byID []request
	if def.read != nil {
		byID = append(byID, def.read.request)
	}
	if def.remove != nil {
		byID = append(byID, def.remove.request)
	}
	for _, r := range byID {
		one, err := spelled(r.call(about.with(map[string]any{"id": "100001"})))
		if err != nil {
			return err
		}
		two, err := spelled(r.call(about.with(map[string]any{"id": "100002"})))
		if err != nil {
			return err
		}
		if one == two {
			return &wrong{r.line, r.part, "the record (.id) is nowhere in this request"}
		}
	}
	return nil
}

// sampled is a made-up invoice.
type sampled struct {
	invoice   work.Invoice
	reference string
}

func sample(reference, customer, total, code string) sampled {
	amount, err := currency.NewAmount(total, code)
	if err != nil {
		amount = currency.Amount{}
	}
	return sampled{work.Invoice{CustomerID: customer, CustomerName: "Sample", Total: amount.Round(), IssueDate: "2026-11-30", DueDate: "2026-12-30"}, reference}
}

func (s sampled) document(about document, key, previous string) document {
	return about.with(map[string]any{"invoice": asked(s.invoice, s.reference), "reference": s.reference, "key": key, "previous": previous})
}

// spelled is a request as one text, to see whether two are the same.
func spelled(call ledger.Call, err error) (string, error) {
	var headers strings.Builder
	_ = call.Header.Write(&headers)
	return call.Method + " " + call.Path + "?" + call.Query.Encode() + "\n" + headers.String() + "\n" + string(call.Body), err
}
