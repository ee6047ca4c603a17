package odootest

import (
	"net/http"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// Misbehave implements ledgertest.Fake.
func (o *Odoo) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f == ledgertest.NoFault {
		clear(o.faults)
		return true
	}
	if !o.can(kind, f) {
		return false
	}
	o.faults[kind] = f
	return true
}

// can says what this system itself can do wrong. An answer to posting names no record, so that it cannot name a wrong
// one; of old servers the answer to the creation is an id and nothing else.
func (o *Odoo) can(kind work.Kind, f ledgertest.Fault) bool {
	posting := len(o.moves) > 0
	switch f {
	case "reject", "reject_final", "reject_charset", "reject_long", "reject_zero_byte", "reject_not_utf8",
		"voided", "search_error", "search_empty", "search_broken_page", "server_error", "error_after_commit":
		return true
	case "zero_id", "null_id", "empty_id":
		return !posting
	case "duplicate_error": // the reference is not unique; but an invoice is posted only once
		return posting
	case "login": // by JSON-2 it is a 401, which the line can do
		return o.opts.RPC
	case "total_times_100", "total_plus_one", "other_customer":
		return !o.opts.Old
	case "other_books":
		return !o.opts.Old || kind == work.Find
	}
	return false
}

const blocked = "the customer is blocked"

// spoil answers for the faults that need no method to run.
func (o *Odoo) spoil(w http.ResponseWriter, f ledgertest.Fault) bool {
	switch f {
	case "reject":
		o.raise(w, userError(blocked))
	case "reject_final":
		o.raise(w, &exception{Name: "odoo.exceptions.MissingError", Message: "Record does not exist or has been deleted: " + blocked, status: http.StatusNotFound})
	case "reject_charset":
		w = caseOf{w}
		o.raise(w, userError(blocked))
	case "reject_long":
		o.raise(w, userError(strings.Repeat("Größe ungültig 💶 ", 10_000)))
	case "reject_zero_byte":
		o.raise(w, userError("zero\x00byte"))
	case "reject_not_utf8":
		e := userError("ung?ltig")
		w = rawOf{w}
		o.raise(w, e)
	case "duplicate_error":
		o.raise(w, userError("The entry INV/2026/00001 (id 1) must be in draft."))
	case "search_error":
		o.raise(w, userError("the search is being maintained"))
	case "server_error": // for example after five tries that met a lock
		o.raise(w, &exception{Name: "psycopg2.errors.SerializationFailure", Message: "could not serialize access due to concurrent update", status: http.StatusInternalServerError})
	default:
		return false
	}
	return true
}

// caseOf writes the content type in another way.
type caseOf struct{ http.ResponseWriter }

func (w caseOf) WriteHeader(status int) {
	w.Header().Set("Content-Type", "Application/JSON; charset=UTF-8")
	w.ResponseWriter.WriteHeader(status)
}

func (w caseOf) Write(b []byte) (int, error) {
	w.Header().Set("Content-Type", "Application/JSON; charset=UTF-8")
	return w.ResponseWriter.Write(b)
}

// rawOf writes a byte that is no UTF-8.
type rawOf struct{ http.ResponseWriter }

func (w rawOf) Write(b []byte) (int, error) {
	_, err := w.ResponseWriter.Write([]byte(strings.ReplaceAll(string(b), "ung?ltig", "ung\xfcltig")))
	return len(b), err
}

// wrong answers about another id than that of what was made.
func wrong(f ledgertest.Fault) (id any, yes bool) {
	switch f {
	case "zero_id":
		return 0, true
	case "null_id":
		return nil, true
	}
	return nil, false
}
