package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is what was measured of one case.
type result struct {
	contender contender
	items     int
	runs      []time.Duration
}

func (r result) median() time.Duration {
	sorted := slices.Sorted(slices.Values(r.runs))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

func (r result) rate() float64 {
	if m := r.median(); m > 0 {
		return float64(r.items) / m.Seconds()
	}
	return 0
}

// line is one case as it is printed with -json. A ratio is left out if the peer did not run.
type line struct {
	Case           string    `json:"case"`
	Engine         string    `json:"engine"`
	Database       string    `json:"database"`
	Items          int       `json:"items"`
	Seconds        float64   `json:"seconds"`
	Runs           []float64 `json:"runs_seconds"`
	ItemsPerSecond float64   `json:"items_per_second"`
	RatioToDBOS    *float64  `json:"ratio_to_dbos,omitempty"`
	RatioToRiver   *float64  `json:"ratio_to_river,omitempty"`
	RatioToIdeal   *float64  `json:"ratio_to_ideal,omitempty"`
	Note           string    `json:"note"`
	Go             string    `json:"go"`
	Postgres       string    `json:"postgres"`
	Cores          int       `json:"cores"`
	Date           string    `json:"date"`
}

func report(w io.Writer, results []result, postgres string, asJSON bool) error {
	// DBOS is compared at its best: the faster of its two ways to run a workflow.
	dbos, river := best(results, "dbos"), best(results, "river")
	lines := make([]line, len(results))
	for i, r := range results {
		lines[i] = line{
			Case: r.contender.name, Engine: r.contender.engine, Database: "postgresql", Items: r.items,
			Seconds: round(r.median().Seconds(), 3), ItemsPerSecond: round(r.rate(), 0), Note: r.contender.note,
			RatioToIdeal: ratio(r.rate(), r.contender.ideal),
			Go:           runtime.Version(), Postgres: postgres, Cores: runtime.NumCPU(), Date: time.Now().UTC().Format(time.DateOnly),
		}
		switch {
		case r.contender.sqlite:
			lines[i].Database = "sqlite"
		case r.contender.ideal == 0: // waiting for a slow accounting system is no race
			lines[i].RatioToDBOS, lines[i].RatioToRiver = ratio(r.rate(), dbos), ratio(r.rate(), river)
		}
		for _, d := range r.runs {
			lines[i].Runs = append(lines[i].Runs, round(d.Seconds(), 3))
		}
	}
	if asJSON {
		enc := json.NewEncoder(w)
		for _, l := range lines {
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CASE\tENGINE\tITEMS\tSECONDS\tITEMS/S\tx DBOS\tx RIVER\tOF IDEAL\tSETTINGS")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%s\t%d\t%.2f\t%.0f\t%s\t%s\t%s\t%s\n", l.Case, l.Engine, l.Items, l.Seconds, l.ItemsPerSecond,
			show(l.RatioToDBOS), show(l.RatioToRiver), show(l.RatioToIdeal), l.Note)
	}
	fmt.Fprintf(t, "\n%s, PostgreSQL %s on the same %d cores\n", runtime.Version(), postgres, runtime.NumCPU())
	return t.Flush()
}

// claimLine is the time of one claim of a full batch, as printed with -json.
type claimLine struct {
	Case      string  `json:"case"`
	Engine    string  `json:"engine"`
	Database  string  `json:"database"`
	Items     int     `json:"items"`
	History   int     `json:"history"`
	WithoutMS float64 `json:"without_history_ms"`
	WithMS    float64 `json:"with_history_ms"`
	Ratio     float64 `json:"ratio"`
	Go        string  `json:"go"`
	Postgres  string  `json:"postgres"`
	Cores     int     `json:"cores"`
	Date      string  `json:"date"`
}

func reportClaims(w io.Writer, without, with time.Duration, history int, postgres string, asJSON bool) error {
	l := claimLine{Case: "claim", Engine: "Onefold", Database: "postgresql", Items: claimBatch, History: history,
		WithoutMS: round(float64(without)/1e6, 2), WithMS: round(float64(with)/1e6, 2), Ratio: round(float64(with)/float64(without), 2),
		Go: runtime.Version(), Postgres: postgres, Cores: runtime.NumCPU(), Date: time.Now().UTC().Format(time.DateOnly)}
	if asJSON {
		return json.NewEncoder(w).Encode(l)
	}
	_, err := fmt.Fprintf(w, "\none claim of %d items: %.2f ms with no finished items in the table, %.2f ms with %d (x %.2f)\n",
		l.Items, l.WithoutMS, l.WithMS, history, l.Ratio)
	return err
}

// reportPages prints the times of the pages' calls as they are measured.
func reportPages(w io.Writer, asJSON bool, measure func(report func(pageResult)) error) error {
	enc := json.NewEncoder(w)
	over := 0
	if !asJSON {
		fmt.Fprintf(w, "%-44s %-11s %9s %7s %9s %9s %9s\n", "CALL", "DATABASE", "ITEMS", "ROWS", "P50 MS", "P95 MS", "WORST MS")
	}
	err := measure(func(r pageResult) {
		if asJSON {
			_ = enc.Encode(r)
			return
		}
		mark := ""
		if r.P95 > float64(pageBar)/1e6 {
			over, mark = over+1, "  over the bar"
		}
		fmt.Fprintf(w, "%-44s %-11s %9d %7d %9.2f %9.2f %9.2f%s\n", r.Case, r.Database, r.Items, r.Rows, r.P50, r.P95, r.Worst, mark)
	})
	if err == nil && !asJSON {
		fmt.Fprintf(w, "\n%d calls over %s at the 95th percentile\n", over, pageBar)
	}
	return err
}

// best is the highest rate among the cases of one peer; 0 if none ran.
func best(results []result, prefix string) (rate float64) {
	for _, r := range results {
		if strings.HasPrefix(r.contender.name, prefix) {
			rate = max(rate, r.rate())
		}
	}
	return rate
}

func ratio(rate, peer float64) *float64 {
	if peer == 0 {
		return nil
	}
	v := round(rate/peer, 2)
	return &v
}

func show(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}
