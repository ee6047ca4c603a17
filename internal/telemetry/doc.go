package telemetry

import (
	"fmt"
	"io"
	"strings"
)

const metricsHead = `<!-- Written by "go generate ./cmd/server" from internal/telemetry; a test fails if it is out of date. -->

# Metrics

` + "`onefold serve --metrics-listen 127.0.0.1:9090`" + ` serves metrics for Prometheus at ` + "`/metrics`" + `, without login and apart from the pages: the
pages may be open to the world, and how much a firm invoices is nobody else's business. It is off unless asked for. On an address that
others reach, give ` + "`--metrics-token`" + ` (better ` + "`ONEFOLD_METRICS_TOKEN_FILE`" + `): then only who sends that bearer token is answered.

` + "```yaml" + `
scrape_configs:
  - job_name: onefold
    authorization: {credentials_file: /etc/prometheus/onefold-token}
    static_configs: [{targets: ["billing-1:9090", "billing-2:9090"]}]
` + "```" + `

* **Counters and histograms** count what *this* server did since it started: add them up over the servers.
* **Gauges from the database** are the same on every server: take ` + "`max by (system)`" + `, never the sum. They are read every 15 seconds (overdue items each minute), more
  seldom if that takes long (100 times as long as it takes, at most 5 minutes), and only open items are counted: no query grows with the history. Being scraped costs the database nothing. While it is
  away these gauges are missing and ` + "`onefold_database_up`" + ` is 0; while counting fails or takes more than 5 seconds only the gauges are missing.
* **Counters begin at 0**, so that ` + "`increase()`" + ` sees the first event too.
* **Labels are bounded.** ` + "`system`" + ` is the id of a connected accounting system; from the 51st on they share the label ` + "`other`" + `, and that need not
  be the same ones on each server: of ` + "`other`" + ` only sums of counters mean something. ` + "`route`" + ` is the pattern of a route. No key, number, name or error
  text of an item is ever a label.

[alert-rules.yaml](alert-rules.yaml) and [dashboard.json](dashboard.json) use them. ` + "`go_*` and `process_*`" + ` are those of the Prometheus
client library.

| metric | kind | labels | what it is |
| --- | --- | --- | --- |
`

// WriteMetrics writes docs/operations/metrics.md.
func WriteMetrics(w io.Writer) error {
	var b strings.Builder
	b.WriteString(metricsHead)
	for _, m := range NewMetrics("", Build{}).List() {
		labels := "none"
		if len(m.Labels) > 0 {
			labels = "`" + strings.Join(m.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, labels, m.Help)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
