package xerotest

import (
	"bytes"
	"net/http"
	"time"
)

const keyLifetime = 6 * time.Minute

// kept is what is remembered under an idempotency key.
type kept struct {
	method, url, body string
	at                time.Time
	status            int
	header            http.Header
	answer            []byte
}

// once carries a writing request out under its key.
func (s *Server) once(w http.ResponseWriter, r *http.Request, body []byte, do func(http.ResponseWriter)) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		do(w)
		return
	}
	if len(key) > 128 {
		refuse(w, "The Idempotency Key is longer than 128 characters")
		return
	}
	was, known := s.keys[key]
	switch {
	case known && s.now().Sub(was.at) < keyLifetime && (was.method != r.Method || was.url != r.URL.String() || was.body != string(body)):
		answer(w, http.StatusBadRequest, map[string]any{"Type": "ValidationException", "Message": "Idempotency Key " + key + " is used with a different request"})
		return
	case known && s.now().Sub(was.at) < keyLifetime:
		give(w, was)
		return
	}
	made := &recorder{header: http.Header{}, status: http.StatusOK}
	at := s.now()
	do(made)
	k := kept{r.Method, r.URL.String(), string(body), at, made.status, made.header, made.body.Bytes()}
	s.keys[key] = k
	give(w, k)
}

func give(w http.ResponseWriter, k kept) {
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	w.Write(k.answer) //nolint:errcheck,gosec // the client may be gone
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
