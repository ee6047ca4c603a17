package statedoc

import (
	"fmt"
	"html"
	"math"
	"strings"

	"onefold/internal/work"
)

// place is where a status is drawn: its middle.
var place = map[work.Status][2]float64{
	"":              {60, 80},
	work.Queued:     {270, 80},
	work.InProgress: {640, 80},
	work.Confirmed:  {1060, 80},
	work.Failed:     {160, 400},
	work.Pending:    {765, 260},
	work.Review:     {600, 600},
	work.Resolved:   {1060, 480},
	work.Closed:     {1060, 680},
}

const (
	boxWidth, boxHeight = 150.0, 48.0
	svgHead             = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1160 740" role="img" aria-labelledby="t">
<!-- Generated from internal/work by internal/work/statedoc. Do not edit; run: go generate ./internal/work/... -->
<title id="t">The statuses of an item and what moves it from one to the next</title>
<style>
  svg { background: #ffffff; font: 13px system-ui, sans-serif }
  .box { fill: #f1f5f9; stroke: #334155; stroke-width: 1.5 }
  .done { fill: #dcfce7 } .person { fill: #fef3c7 } .open { fill: #dbeafe }
  .name { fill: #0f172a; font-weight: 600; font-size: 15px; text-anchor: middle }
  .label { fill: #1e293b; text-anchor: middle; paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round }
  path.edge { fill: none; stroke: #475569; stroke-width: 1.5 }
  path.people { stroke: #b45309 } path.late { stroke: #94a3b8; stroke-dasharray: 5 4 }
  .tip { fill: #475569 } .tip.people { fill: #b45309 } .tip.late { fill: #94a3b8 }
  .key { fill: #1e293b }
  @media (prefers-color-scheme: dark) {
    svg { background: #0f172a }
    .box { fill: #1e293b; stroke: #cbd5e1 } .done { fill: #14532d } .person { fill: #713f12 } .open { fill: #1e3a8a }
    .name, .label, .key { fill: #f1f5f9 } .label { stroke: #0f172a }
    path.edge { stroke: #cbd5e1 } path.people { stroke: #fbbf24 } path.late { stroke: #64748b }
    .tip { fill: #cbd5e1 } .tip.people { fill: #fbbf24 } .tip.late { fill: #64748b }
  }
</style>
<defs>
`
)

// SVG is the drawn diagram: one arrow for each pair of statuses and kind of cause. Late answers may come at any time, so
// their arrows are drawn without a label.
func SVG(all []Derived) string {
	var b strings.Builder
	b.WriteString(svgHead)
	for _, kind := range []string{"", "people", "late"} {
		fmt.Fprintf(&b, `<marker id="tip%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip %s" d="M0 0 8 4 0 8z"/></marker>`+"\n", kind, kind)
	}
	b.WriteString("</defs>\n")
	var labels strings.Builder
	for _, e := range edges(all) {
		drawn := map[string][]string{}
		for _, ev := range e.events {
			drawn[cause(ev)] = append(drawn[cause(ev)], ev)
		}
		for i, kind := range []string{"", "people", "late"} {
			if events := drawn[kind]; len(events) > 0 && (kind != "late" || len(drawn) == 1) {
				arrow(&b, &labels, e, kind, i, events)
			}
		}
	}
	for _, s := range append([]work.Status{""}, work.Statuses...) {
		box(&b, s)
	}
	b.WriteString(labels.String())
	b.WriteString(`<text class="key" x="30" y="670">dark arrows: the automation</text>` + "\n")
	b.WriteString(`<text class="key" x="30" y="692">amber arrows: a person</text>` + "\n")
	b.WriteString(`<text class="key" x="30" y="714">dashed arrows: an answer or a lookup that came late</text>` + "\n</svg>\n")
	return b.String()
}

func cause(event string) string {
	switch event {
	case "recorded", "claimed", "send closed", "find closed", "lease expired":
		return ""
	case "late answer", "late lookup":
		return "late"
	}
	return "people"
}

func box(b *strings.Builder, s work.Status) {
	at, class := place[s], ""
	switch {
	case s == "":
		fmt.Fprintf(b, `<circle class="tip" cx="%g" cy="%g" r="9"/>`+"\n", at[0], at[1])
		return
	case s == work.Review:
		class = " person"
	case s.Settled():
		class = " done"
	case s == work.InProgress:
		class = " open"
	}
	fmt.Fprintf(b, `<rect class="box%s" x="%g" y="%g" width="%g" height="%g" rx="9"/>`+"\n", class, at[0]-boxWidth/2, at[1]-boxHeight/2, boxWidth, boxHeight)
	fmt.Fprintf(b, `<text class="name" x="%g" y="%g">%s</text>`+"\n", at[0], at[1]+5, s)
}

// arrow bends each way and each cause differently, so that they do not lie on each other.
func arrow(b, labels *strings.Builder, e edge, kind string, lane int, events []string) {
	from, to := place[e.from], place[e.to]
	dx, dy := to[0]-from[0], to[1]-from[1]
	length := math.Hypot(dx, dy)
	bend := 28 + 62*float64(lane)
	cx, cy := (from[0]+to[0])/2-dy/length*bend, (from[1]+to[1])/2+dx/length*bend
	x1, y1 := border(from, [2]float64{cx, cy}, e.from)
	x2, y2 := border(to, [2]float64{cx, cy}, e.to)
	fmt.Fprintf(b, `<path class="edge %s" d="M%.0f %.0f Q%.0f %.0f %.0f %.0f" marker-end="url(#tip%s)"/>`+"\n", kind, x1, y1, cx, cy, x2, y2, kind)
	if kind == "late" {
		return
	}
	// The label sits nearer to the start than to the end: many arrows end in review.
	const t = 0.42
	lx := (1-t)*(1-t)*x1 + 2*t*(1-t)*cx + t*t*x2
	ly := (1-t)*(1-t)*y1 + 2*t*(1-t)*cy + t*t*y2
	for i, ev := range events {
		fmt.Fprintf(labels, `<text class="label" x="%.0f" y="%.0f">%s</text>`+"\n", lx, ly+4+14*(float64(i)-float64(len(events)-1)/2), html.EscapeString(ev))
	}
}

// border is where the line from the middle of a box towards a point leaves the box.
func border(middle, towards [2]float64, s work.Status) (x, y float64) {
	dx, dy := towards[0]-middle[0], towards[1]-middle[1]
	w, h := boxWidth/2, boxHeight/2
	if s == "" {
		w, h = 9, 9
	}
	scale := math.Min(w/math.Max(math.Abs(dx), 1e-9), h/math.Max(math.Abs(dy), 1e-9))
	return middle[0] + dx*scale, middle[1] + dy*scale
}
