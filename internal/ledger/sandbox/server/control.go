package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// control steers the sandbox itself: JSON for tests and scripts, the same token as the API.
func (s *Server) control(mux *http.ServeMux) {
	guarded := func(h http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !s.welcome(r) {
				reply(w, http.StatusUnauthorized, refusal{Code: "login", Reason: "the token is not valid"})
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, mostBytes)
			h(w, r)
		})
	}
	mux.Handle("GET /control/plan", guarded(func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, s.Plan()) }))
	mux.Handle("PUT /control/plan", guarded(func(w http.ResponseWriter, r *http.Request) {
		var p Plan
		in := json.NewDecoder(r.Body)
		in.DisallowUnknownFields()
		err := in.Decode(&p)
		if err == nil {
			err = s.SetPlan(p)
		}
		if err != nil {
			reply(w, http.StatusBadRequest, refusal{Code: "invalid", Reason: err.Error()})
			return
		}
		reply(w, http.StatusOK, s.Plan())
	}))
	mux.Handle("PUT /control/outage", guarded(func(w http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.ParseFloat(r.URL.Query().Get("seconds"), 64)
		if err != nil || seconds < 0 || seconds > 86_400 {
			reply(w, http.StatusBadRequest, refusal{Code: "invalid", Reason: "seconds must be a number from 0 to 86400"})
			return
		}
		s.Outage(time.Duration(seconds * float64(time.Second)))
		reply(w, http.StatusOK, map[string]any{"outage_until": s.OutageUntil()})
	}))
	mux.Handle("GET /control/books", guarded(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"books": s.Books()})
	}))
	mux.Handle("GET /control/health", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	}))
}
