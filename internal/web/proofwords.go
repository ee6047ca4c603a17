package web

import (
	"strings"

	"onefold/internal/automation/proof"
	"onefold/internal/work"
	"onefold/web/templates"
)

// ProofSays is what a step of a proof showed, in words; empty while it goes on.
func ProofSays(s proof.Step) string {
	if s.Says == "" {
		return ""
	}
	vals := map[string]any{}
	for name, v := range s.Vals {
		vals[name] = strings.TrimSuffix(text(v, 300), ".")
	}
	if n, ok := s.Vals["steps"]; ok {
		vals["steps"] = say(templates.Pick(templates.Proofs.StepCount, n, ""), "n", n)
	}
	if s.Name == proof.Lost || s.Name == proof.Refused {
		vals["reason"] = orText(templates.Words.Reasons[s.Vals["reason"]], s.Vals["reason"])
		vals["status"] = orText(templates.Words.StatusName[s.Vals["status"]], s.Vals["status"])
	}
	return templates.Say(templates.Pick(templates.Proofs.Says, s.Says, "any/inside"), vals).String()
}

// ProofOffers is what a proof advises not to rely on, in words; empty: nothing.
func ProofOffers(k work.Caution) (lines []string) {
	w := templates.Proofs.OfferLine
	for _, line := range []struct {
		is   bool
		code string
	}{{k.NoKeys, "no_keys"}, {k.NoSearch, "no_search"}, {k.NotUnique, "not_unique"}, {k.Plain, "plain"}, {k.SearchLag > 0, "search_lag"}} {
		if line.is {
			lines = append(lines, say(w[line.code], "time", spell(k.SearchLag)))
		}
	}
	return lines
}
