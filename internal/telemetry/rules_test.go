package telemetry

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// asked are the labels that something may ask for, with the values that are told of each.
type asked map[string]map[string]bool

// toldOf is what a scrape tells: by metric its labels.
func toldOf(t *testing.T, m *Metrics) map[string]asked {
	t.Helper()
	all := map[string]asked{"up": {"job": {"onefold": true}}}
	if !strings.Contains(metricsHead, "job_name: onefold\n") {
		t.Error("the job of Prometheus has another name on the page")
	}
	label := regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
	for _, line := range strings.Split(scrape(t, m), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		name, labels, _ := strings.Cut(line[:strings.LastIndexByte(line, ' ')], "{")
		if all[name] == nil {
			all[name] = asked{}
		}
		for _, l := range label.FindAllStringSubmatch(labels, -1) {
			if all[name][l[1]] == nil {
				all[name][l[1]] = map[string]bool{}
			}
			all[name][l[1]][l[2]] = true
		}
	}
	return all
}

var (
	ofPrometheus = []string{"instance", "job"} // every series has them
	quoted       = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	aMetric      = regexp.MustCompile(`\b(?:(?:onefold|go|process)_[a-z_0-9]+|up)\b(\{[^}]*\})?`)
	aSelector    = regexp.MustCompile(`([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	aGrouping    = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	aKeeping     = regexp.MustCompile(`\bby\s*\(([^)]*)\)`)
	aNamed       = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}`)
)

// silent says what in an expression, and in the text that goes with what it finds, would never be answered.
func silent(told map[string]asked, expr, text string) (bad []string) {
	labels := slices.Clone(ofPrometheus)
	for _, found := range aMetric.FindAllStringSubmatch(blank(expr), -1) {
		name, _, _ := strings.Cut(found[0], "{")
		of, known := told[name]
		if !known {
			bad = append(bad, name+" is told by nobody")
			continue
		}
		for l := range of {
			labels = append(labels, l)
		}
	}
	for _, found := range aMetric.FindAllStringSubmatch(expr, -1) {
		name, _, _ := strings.Cut(found[0], "{")
		for _, s := range aSelector.FindAllStringSubmatch(found[1], -1) {
			bad = append(bad, never(name, told[name], s[1], s[2], s[3])...)
		}
	}
	for _, group := range aGrouping.FindAllStringSubmatch(blank(expr), -1) {
		for _, l := range list(group[1]) {
			if !slices.Contains(labels, l) {
				bad = append(bad, "nothing here has the label "+l)
			}
		}
	}
	if by := aKeeping.FindStringSubmatch(expr); by != nil {
		labels = list(by[1])
	} else if regexp.MustCompile(`\b(sum|max|count|absent)\s*\(`).MatchString(expr) {
		labels = nil
	}
	for _, n := range aNamed.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(labels, n[1]) {
			bad = append(bad, "the text names "+n[1]+", which is not kept")
		}
	}
	return bad
}

// never says why a selector finds nothing.
func never(name string, of asked, label, op, value string) []string {
	if strings.HasPrefix(value, "$") || slices.Contains(ofPrometheus, label) && of[label] == nil {
		return nil // chosen by who looks
	}
	if of[label] == nil {
		return []string{fmt.Sprintf("%s has no label %s", name, label)}
	}
	if op == "=" || op == "!=" {
		if !of[label][value] {
			return []string{fmt.Sprintf("%s of %s is never %q", label, name, value)}
		}
		return nil
	}
	var bad []string
	for _, one := range strings.Split(value, "|") {
		is := regexp.MustCompile("^(?:" + one + ")$")
		if !slices.ContainsFunc(keys(of[label]), is.MatchString) {
			bad = append(bad, fmt.Sprintf("%s of %s is never like %q", label, name, one))
		}
	}
	return bad
}

func keys(m map[string]bool) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

func list(labels string) []string {
	return strings.FieldsFunc(labels, func(r rune) bool { return r == ',' || r == ' ' })
}

// blank takes the values out: they are not names.
func blank(expr string) string { return quoted.ReplaceAllString(expr, `""`) }

// pages has counted a request to each route that the server has.
func pages(t *testing.T, m *Metrics) {
	t.Helper()
	files, err := filepath.Glob("../web/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	route := regexp.MustCompile(`r\.(?:add|page)\((?:get|post), "(/[^"]*)",`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range route.FindAllStringSubmatch(string(text), -1) {
			m.Request(r[1], "GET", 200, time.Millisecond)
		}
	}
}

type question struct{ where, expr, text string }

func alertRules(t *testing.T) (all []question) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations/alert-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			all = append(all, question{r.Alert, r.Expr, r.Annotations["summary"] + r.Annotations["do"]})
		}
	}
	return all
}

func dashboard(t *testing.T) (all []question) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Name, Query any } }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, p := range file.Panels {
		for _, q := range p.Targets {
			all = append(all, question{p.Title, q.Expr, q.LegendFormat})
		}
	}
	for _, v := range file.Templating.List {
		if q, ok := v.Query.(map[string]any); ok {
			values := regexp.MustCompile(`label_values\((\w+), (\w+)\)`).FindStringSubmatch(fmt.Sprint(q["query"]))
			if values == nil {
				t.Fatalf("the variable %v is not understood", v.Name)
			}
			all = append(all, question{fmt.Sprint("variable ", v.Name), "max by (" + values[2] + ") (" + values[1] + ")", ""})
		}
	}
	return all
}

// Rules and dashboards that ask for what nobody tells, a metric, a label or a value, are silent for ever.
func TestRulesAndDashboardAskForWhatIsTold(t *testing.T) {
	m := busy(t)
	pages(t, m)
	told := toldOf(t, m)
	rules, panels := alertRules(t), dashboard(t)
	if len(rules) < 15 || len(panels) < 20 {
		t.Errorf("%d rules and %d questions of the dashboard are read only", len(rules), len(panels))
	}
	for _, q := range append(rules, panels...) {
		for _, bad := range silent(told, q.expr, q.text) {
			t.Errorf("%s: %s", q.where, bad)
		}
	}
	for _, q := range []question{
		{"a status", `max by (system) (onefold_items{status="waiting"})`, ""},
		{"a grouping", `sum by (sytem) (rate(onefold_rate_limited_total[15m]))`, ""},
		{"a result", `sum(increase(onefold_notices_total{result="fail"}[1h])) > 0`, ""},
		{"one of two results", `sum(increase(onefold_notices_total{result=~"again|fail"}[1h])) > 0`, ""},
		{"a state", `onefold_database_connections{state!="max"}`, ""},
		{"a label", `onefold_items{kind="send"}`, ""},
		{"a name", `onefold_item{status="review"}`, ""},
		{"a route", `rate(onefold_http_requests_total{route!="/ready"}[10m])`, ""},
		{"a job", `up{job="onefolds"} == 0`, ""},
		{"a text", `max by (system) (onefold_paused) == 1`, "{{ $labels.way }}"},
		{"a text of nothing", `sum(onefold_paused) == 1`, "{{ $labels.system }}"},
		{"a legend", `sum by (route) (rate(onefold_http_requests_total[10m]))`, "{{rout}}"},
	} {
		if len(silent(told, q.expr, q.text)) == 0 {
			t.Errorf("%s that is never there is not noticed: %s", q.where, q.expr)
		}
	}
}
