package server

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"
)

//go:embed pages
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "pages/books.html"))

const rowsOnPage = 50

type view struct {
	Title, Name, Query, Outage, Next, Error string
	Nav                                     []Books
	Rows                                    []row
	Hits, Records, Posted, Void, Twice      int
	Totals                                  []total
	Faults                                  []Fault
	Rules                                   []Rule
	Seed                                    uint64
}

type row struct {
	Record
	Made  string
	Twice bool
}

type total struct{ Currency, Amount string }

func (s *Server) pages(mux *http.ServeMux) {
	forms := http.NewCrossOriginProtection()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/"+s.names[0], http.StatusSeeOther)
	})
	mux.HandleFunc("GET /{books}", s.booksPage)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, pageFiles, "pages/style.css")
	})
	mux.HandleFunc("GET /control", func(w http.ResponseWriter, _ *http.Request) { s.faultsPage(w, http.StatusOK, "") })
	mux.Handle("POST /control/rule", forms.Handler(http.HandlerFunc(s.addRule)))
	mux.Handle("POST /control/clear", forms.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.steered(w, r, s.SetPlan(Plan{Seed: s.Plan().Seed}))
	})))
	mux.Handle("POST /control/outage", forms.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.Atoi(strings.TrimSpace(r.PostFormValue("seconds")))
		switch {
		case r.PostFormValue("end") != "":
			s.Outage(0)
		case err != nil || seconds < 1 || seconds > 86_400:
			s.faultsPage(w, http.StatusBadRequest, "The seconds must be a number from 1 to 86400.")
			return
		default:
			s.Outage(time.Duration(seconds) * time.Second)
		}
		s.steered(w, r, nil)
	})))
}

func (s *Server) render(w http.ResponseWriter, status int, v view) {
	v.Nav = s.Books()
	if until := s.OutageUntil(); !until.IsZero() {
		v.Outage = until.UTC().Format("15:04:05 UTC")
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	pageTemplate.Execute(w, v) //nolint:errcheck,gosec // the reader may be gone
}

func (s *Server) booksPage(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("books")
	if s.books[name] == nil {
		http.NotFound(w, r)
		return
	}
	query := strings.Join(strings.Fields(r.URL.Query().Get("q")), " ")
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || page < 1 {
		page = 1
	}
	v := s.look(name, query, page)
	s.render(w, http.StatusOK, v)
}

// look makes the view of one set of books.
func (s *Server) look(name, query string, page int) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.books[name]
	v := view{Title: b.Title, Name: name, Query: query, Records: len(b.records)}
	live := map[string]int{}
	sums := map[string]currency.Amount{}
	for _, r := range b.records {
		switch {
		case r.deleted || r.State == "void":
			v.Void++
			continue
		case r.State == "posted":
			v.Posted++
		}
		if live[r.asked]++; live[r.asked] == 2 {
			v.Twice++
		}
		amount, err := currency.NewAmount(r.Total, r.Currency)
		if sum, ok := sums[r.Currency]; err == nil && ok {
			amount, err = amount.Add(sum)
		}
		if err == nil {
			sums[r.Currency] = amount
		}
	}
	for code, sum := range sums {
		v.Totals = append(v.Totals, total{code, sum.Number()})
	}
	sort.Slice(v.Totals, func(i, j int) bool { return v.Totals[i].Currency < v.Totals[j].Currency })
	skip := (page - 1) * rowsOnPage
	for _, r := range slices.Backward(b.records) {
		if !r.matches(query) {
			continue
		}
		v.Hits++
		if v.Hits <= skip || len(v.Rows) == rowsOnPage {
			continue
		}
		shown := row{Record: *r, Made: r.CreatedAt.UTC().Format("2006-01-02 15:04:05"), Twice: live[r.asked] > 1}
		if r.deleted {
			shown.State = "void"
		}
		v.Rows = append(v.Rows, shown)
	}
	if v.Hits > skip+rowsOnPage {
		v.Next = "/" + name + "?" + url.Values{"q": {query}, "page": {strconv.Itoa(page + 1)}}.Encode()
	}
	return v
}

func (r *Record) matches(query string) bool {
	query = strings.ToLower(query)
	for _, field := range []string{r.Reference, r.asked, r.Number, r.CustomerName, r.CustomerID, r.ID} {
		if strings.Contains(strings.ToLower(field), query) {
			return true
		}
	}
	return false
}

func (s *Server) faultsPage(w http.ResponseWriter, status int, problem string) {
	p := s.Plan()
	s.render(w, status, view{Title: "Faults", Faults: Faults, Rules: p.Rules, Seed: p.Seed, Error: problem})
}

func (s *Server) addRule(w http.ResponseWriter, r *http.Request) {
	rule := Rule{Fault: Fault(r.PostFormValue("fault")), Kind: Kind(r.PostFormValue("kind")), Books: r.PostFormValue("books"),
		Reference: r.PostFormValue("reference"), RetryAfter: r.PostFormValue("retry_after")}
	if text := strings.TrimSpace(r.PostFormValue("probability")); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			s.faultsPage(w, http.StatusBadRequest, "The share must be a number from 0 to 1.")
			return
		}
		rule.Probability = n
	}
	if text := strings.TrimSpace(r.PostFormValue("times")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			s.faultsPage(w, http.StatusBadRequest, "The times must be a whole number.")
			return
		}
		rule.Times = n
	}
	p := s.Plan()
	p.Rules = append(slices.Clone(p.Rules), rule)
	s.steered(w, r, s.SetPlan(p))
}

// steered answers a form: back to the page, or the page with what is wrong.
func (s *Server) steered(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		s.faultsPage(w, http.StatusBadRequest, "This cannot be set: "+err.Error()+".")
		return
	}
	http.Redirect(w, r, "/control", http.StatusSeeOther)
}
