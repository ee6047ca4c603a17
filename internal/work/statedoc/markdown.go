package statedoc

import (
	"fmt"
	"strings"

	"onefold/internal/work"
)

const head = `<!-- Generated from internal/work by internal/work/statedoc. Do not edit; run: go generate ./internal/work/... -->

# The state machine

Every line below was found by running ` + "`work.Next`" + ` on a sample item. A test fails when this file differs from the code.

![The statuses of an item and what moves it from one to the next](state-machine.svg)

## Before anything is sent

> **No send without proof of absence.** A request that could create something outside is sent only when we can prove that
> the thing is not there yet.

` + "`work.Gate`" + ` is the one place that allows a send. It asks for one of five proofs:

| proof | what it says | when it ends |
| --- | --- | --- |
| ` + "`never_sent`" + ` | nothing was ever sent for this item | with the first send |
| ` + "`settled`" + ` | every earlier send was refused, or provably never left | with a send whose outcome is unknown |
| ` + "`lookup`" + ` | a lookup that began after the last send had settled did not find it, as often in a row as the system asks; or a whole report of the system, made after that time, does not hold it | with any later send, or after %[1]s |
| ` + "`key`" + ` | the system cannot be searched, but it honours our key, and the key outlives the request | when the key could be forgotten |
| ` + "`attested`" + ` | a signed-in person looked after the last send had settled and says that it is not there | with any later send, or after %[1]s |

The gate stays closed while a call is on its way, until the previous step is done, after a record was seen, and, for everything
but a lookup or an attestation, after the system reported that it has the record and while the system is in look-first
mode. A send that was never closed counts as sent at the end of its lease. There is no override.

The policy can raise, but not lower, what a system asks for: how long a send takes to settle, how long a new record may stay
invisible to the search, and how many misses in a row prove absence.

`

// Markdown is the text of docs/state-machine.md.
func Markdown(all []Derived) string {
	var b strings.Builder
	fmt.Fprintf(&b, head, "15 minutes")
	b.WriteString("## The statuses\n\n```mermaid\nstateDiagram-v2\n")
	for _, e := range edges(all) {
		from := string(e.from)
		if from == "" {
			from = "[*]"
		}
		fmt.Fprintf(&b, "    %s --> %s: %s\n", from, e.to, strings.Join(e.events, ", "))
	}
	b.WriteString("```\n\n## Every status and every event\n\n")
	b.WriteString("What is refused changes nothing. Refusals are listed with their code. \"In review\" always comes with the reason in brackets.\n")
	for _, s := range append([]work.Status{""}, work.Statuses...) {
		table(&b, s, all)
	}
	return b.String()
}

func table(b *strings.Builder, s work.Status, all []Derived) {
	name := "`" + string(s) + "`"
	if s == "" {
		name = "Not recorded yet"
	}
	fmt.Fprintf(b, "\n### %s\n\n| event | condition | to |\n| --- | --- | --- |\n", name)
	last := ""
	for _, d := range all {
		if d.From != s {
			continue
		}
		event := d.Event
		if event == last {
			event = ""
		}
		last = d.Event
		fmt.Fprintf(b, "| %s | %s | %s |\n", event, d.When, d.Result())
	}
}

// edge is a move from one status to another, with the events that make it.
type edge struct {
	from, to work.Status
	events   []string
}

func edges(all []Derived) (out []edge) {
	at := map[[2]work.Status]int{}
	for _, d := range all {
		if d.Refused != "" || d.From == d.To {
			continue
		}
		pair := [2]work.Status{d.From, d.To}
		i, known := at[pair]
		if !known {
			i = len(out)
			at[pair] = i
			out = append(out, edge{from: d.From, to: d.To})
		}
		if e := &out[i]; len(e.events) == 0 || !contains(e.events, d.Event) {
			e.events = append(e.events, d.Event)
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}
