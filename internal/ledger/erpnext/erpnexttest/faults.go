package erpnexttest

import (
	"net/http"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// own are the faults of the site itself.
var own = map[ledgertest.Fault]bool{"reject": true, "reject_final": true, "reject_charset": true, "reject_long": true, "reject_zero_byte": true,
	"reject_not_utf8": true, "duplicate_error": true, "duplicate_name": true, "zero_id": true, "null_id": true, "empty_id": true, "numeric_id": true,
	"total_times_100": true, "total_plus_one": true, "other_customer": true, "voided": true, "trim_reference": true, "upper_reference": true,
	"other_books": true, "search_error": true, "search_empty": true, "search_broken_page": true,
	"deadlock": true, "error_after_commit": true, "maintenance": true, "queued": true}

// Misbehave implements ledgertest.Fake.
func (s *Site) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f == ledgertest.NoFault {
		clear(s.faults)
		return true
	}
	if !own[f] {
		return false
	}
	s.faults[kind] = f
	return true
}

const blocked = "the customer is blocked"

// spoil answers for the faults that need nothing of the site to be carried out.
func (s *Site) spoil(w http.ResponseWriter, f ledgertest.Fault) bool {
	switch f {
	case "reject":
		s.raise(w, validation(blocked))
	case "reject_final":
		s.raise(w, &exception{"CharacterLengthExceededError", "too long: " + blocked, http.StatusExpectationFailed})
	case "reject_charset":
		s.raise(caseOf{w}, validation(blocked))
	case "reject_long":
		s.raise(w, validation(strings.Repeat("Größe ungültig 💶 ", 10_000)))
	case "reject_zero_byte":
		s.raise(w, validation("zero\x00byte"))
	case "reject_not_utf8":
		s.raise(rawOf{w}, validation("ung?ltig"))
	case "duplicate_error":
		s.raise(w, &exception{"UniqueValidationError", "Work Item must be unique", http.StatusExpectationFailed})
	case "duplicate_name":
		s.raise(w, &exception{"DuplicateEntryError", "Sales Invoice ACC-SINV-2026-00001 already exists", http.StatusConflict})
	case "search_error":
		s.raise(w, validation("the search is being maintained"))
	case "deadlock":
		s.raise(w, &exception{"QueryDeadlockError", "(1213, 'Deadlock found when trying to get lock; try restarting transaction')", http.StatusInternalServerError})
	case "maintenance":
		s.raise(w, &exception{"SessionStopped", "Session Stopped", http.StatusServiceUnavailable})
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

// rawOf writes a byte that is no UTF-8.
type rawOf struct{ http.ResponseWriter }

func (w rawOf) Write(b []byte) (int, error) {
	_, err := w.ResponseWriter.Write([]byte(strings.ReplaceAll(string(b), "ung?ltig", "ung\xfcltig")))
	return len(b), err
}
