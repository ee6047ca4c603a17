package rest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"onefold/internal/ledger"
)

// part is a mapping of which every name must be asked for.
type part struct {
	p     *parser
	node  *yaml.Node
	name  string
	known []string
	of    map[string]*yaml.Node
}

func (p *parser) part(n *yaml.Node, name string) *part {
	m := &part{p: p, node: n, name: name, of: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		p.wrong(n, name, "it must have parts of its own, each as a name and a colon")
		return m
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if m.of[key] != nil {
			p.wrong(n.Content[i], name, "%q stands there twice", ledger.Short(key, 40))
		}
		m.of[key] = n.Content[i+1]
	}
	return m
}

// inner is the full name of a part below.
func (m *part) inner(name string) string {
	if m.name == "" {
		return name
	}
	return m.name + "." + name
}

func (m *part) get(name string) *yaml.Node {
	m.known = append(m.known, name)
	return m.of[name]
}

func (m *part) need(name, why string) *yaml.Node {
	n := m.get(name)
	if n == nil && m.node.Kind == yaml.MappingNode {
		m.p.wrong(m.node, orWhole(m.name), "%q is missing: %s", name, why)
	}
	return n
}

func orWhole(name string) string {
	if name == "" {
		return "definition"
	}
	return name
}

// end says which names nobody asked for.
func (m *part) end() {
	for i := 0; m.node.Kind == yaml.MappingNode && i+1 < len(m.node.Content); i += 2 {
		key := m.node.Content[i]
		if !slices.Contains(m.known, key.Value) {
			m.p.wrong(key, orWhole(m.name), "there is no part %q here; there are %s", ledger.Short(key.Value, 40), strings.Join(m.known, ", "))
		}
	}
}

func (m *part) word(name string, choices ...string) string {
	n := m.get(name)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		m.p.wrong(n, m.inner(name), "it must be a text")
		return ""
	}
	if len(choices) > 0 && !slices.Contains(choices, n.Value) {
		m.p.wrong(n, m.inner(name), "it must be one of %s, not %q", strings.Join(choices, ", "), ledger.Short(n.Value, 40))
		return ""
	}
	return n.Value
}

func (m *part) flag(name string) bool { return m.word(name, "true", "false") == "true" }

func (m *part) count(name string, most int) int {
	text := m.word(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		m.p.wrong(m.of[name], m.inner(name), "it must be a whole number from 0 to %d", most)
	}
	return n
}

const mostTime = 10 * 365 * 24 * time.Hour

func (m *part) duration(name string) time.Duration {
	text := m.word(name)
	if text == "" || text == "0" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > mostTime {
		m.p.wrong(m.of[name], m.inner(name), "it must be a time such as 90s, 10m or 24h")
	}
	return d
}

// asks is an expression; nil if it is not there.
func (m *part) asks(name string) *expression {
	n := m.get(name)
	if n == nil {
		return nil
	}
	return m.p.expression(n, m.inner(name))
}

func (m *part) mustAsk(name, why string) *expression {
	n := m.need(name, why)
	if n == nil {
		return nil
	}
	return m.p.expression(n, m.inner(name))
}

func (m *part) text(name string) *text {
	n := m.get(name)
	if n == nil {
		return nil
	}
	t := m.p.text(n, m.inner(name))
	return &t
}

// named are names with texts, in their order.
func (m *part) namedTexts(name string, odata bool) []named {
	n := m.get(name)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		m.p.wrong(n, m.inner(name), "it must be names with values")
		return nil
	}
	var list []named
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		whole := m.inner(name) + "." + ledger.Short(key, 40)
		if !odata || value.Kind != yaml.MappingNode {
			list = append(list, named{name: key, text: m.p.text(value, whole)})
			continue
		}
		filter := m.p.part(value, whole)
		if inner := filter.need("odata", "the field that is searched"); inner != nil && len(inner.Content) == 2 && odataName.MatchString(inner.Content[0].Value) {
			list = append(list, named{name: key, odata: inner.Content[0].Value, text: m.p.text(inner.Content[1], whole)})
		} else if inner != nil {
			m.p.wrong(inner, whole, "it must be one field with the value that it must equal")
		}
		filter.end()
	}
	return list
}
