package rest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Bounds of a definition.
const (
	longestDefinition = 20_000
	deepest           = 20
	mostProblems      = 6
	mostSteps         = 6
)

// parse reads a definition in YAML or JSON. Its error names lines and parts, several at once.
func parse(source string) (*definition, error) {
	if len(source) > longestDefinition {
		return nil, fmt.Errorf("the definition is longer than %d characters", longestDefinition)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(source), &doc); err != nil {
		return nil, errors.New(ledger.Short(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("line 1: a definition is a list of parts such as name, auth, identity, steps, record and search")
	}
	p := &parser{}
	p.plain(doc.Content[0], 0)
	if len(p.problems) > 0 {
		return nil, p.err()
	}
	d := p.definition(doc.Content[0])
	return d, p.err()
}

// parser reads the parts and keeps what is wrong with them.
type parser struct {
	problems []error
	settings map[string]bool
}

func (p *parser) err() error {
	if len(p.problems) == 0 {
		return nil
	}
	var list []string
	for _, err := range p.problems[:min(len(p.problems), mostProblems)] {
		list = append(list, err.Error())
	}
	if more := len(p.problems) - mostProblems; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(list, "; "))
}

func (p *parser) wrong(n *yaml.Node, part, format string, args ...any) {
	p.problems = append(p.problems, &wrong{n.Line, part, fmt.Sprintf(format, args...)})
}

// plain refuses what makes a text other than it looks: anchors, aliases, merged parts, endless nesting.
func (p *parser) plain(n *yaml.Node, depth int) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge":
		p.wrong(n, "definition", "references inside the text (&, *, <<) cannot be used")
		return
	case depth > deepest:
		p.wrong(n, "definition", "it is nested too deep")
		return
	}
	for _, c := range n.Content {
		p.plain(c, depth+1)
	}
}

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

func (p *parser) expression(n *yaml.Node, name string) *expression {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.wrong(n, name, "it must be a jq expression")
		return nil
	}
	line := n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		line++ // the text begins below its |
	}
	e, err := newExpression(line, name, strings.TrimPrefix(n.Value, "="))
	if err != nil {
		p.problems = append(p.problems, err)
		return nil
	}
	return e
}

// text is fixed, or an expression after "=".
func (p *parser) text(n *yaml.Node, name string) text {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.wrong(n, name, "it must be a text, or an expression after =")
		return text{}
	}
	if !strings.HasPrefix(n.Value, "=") {
		return text{fixed: n.Value}
	}
	return text{made: p.expression(n, name)}
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

func (p *parser) definition(n *yaml.Node) *definition {
	top := p.part(n, "")
	d := &definition{name: top.word("name")}
	if d.name == "" {
		top.need("name", "what the accounting system is called")
	}
	if n := top.get("settings"); n != nil {
		d.settings = p.settingList(n)
	}
	if n := top.need("auth", "how calls are authorized; {none: true} if they are not"); n != nil {
		d.auth = p.auth(n)
	}
	if n := top.need("can", "what can be relied on, at least linger: how long a request may still be at work there after we hung up"); n != nil {
		d.can = p.can(n)
	}
	if n := top.need("identity", "how the system says whose books these are"); n != nil {
		d.identity = p.identity(n)
	}
	if n := top.need("record", "where a record's id, reference, total and currency are"); n != nil {
		d.record = p.record(n)
	}
	if n := top.need("steps", "the requests that make one document"); n != nil {
		d.steps = p.steps(n)
	}
	if n := top.get("search"); n != nil {
		d.search = p.search(n)
		d.can.Searchable = true
	}
	if n := top.get("read"); n != nil {
		d.read = p.read(n)
	}
	d.drafts = top.word("drafts")
	if n := top.get("remove"); n != nil {
		d.remove = p.removal(n)
	}
	top.end()
	if len(p.problems) == 0 {
		p.together(n, d)
	}
	return d
}

// together checks what the parts must be to each other.
func (p *parser) together(n *yaml.Node, d *definition) {
	if d.drafts != "" {
		if _, ok := d.step(d.drafts); !ok {
			p.wrong(n, "drafts", "there is no step %q", ledger.Short(d.drafts, 40))
		}
	}
	if len(d.steps) > 1 && d.can.Searchable && d.read == nil {
		p.wrong(n, "read", "it is missing: with more than one step it must be said how a record is read by its id")
	}
	if d.can.HonoursKeys && d.can.MaxKey == 0 {
		p.wrong(n, "can", "keys need max_key: the longest key that the system takes")
	}
}

func (p *parser) settingList(n *yaml.Node) (list []setting) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "settings", "it must be names with {help: …, required: true} or {help: …, default: …}")
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		m := p.part(n.Content[i+1], "settings."+ledger.Short(n.Content[i].Value, 40))
		list = append(list, setting{name: n.Content[i].Value, help: m.word("help"), required: m.flag("required"), fallback: m.word("default")})
		m.end()
	}
	return list
}

func (p *parser) can(n *yaml.Node) work.Capabilities {
	m := p.part(n, "can")
	c := work.Capabilities{SearchLag: m.duration("search_lag"), Linger: m.duration("linger"), Misses: m.count("misses", 100), UniqueReferences: m.flag("unique_references"),
		MaxReference: m.count("max_reference", 1000), MaxKey: m.count("max_key", 1000), PlainReference: m.flag("plain_reference"), Tolerance: m.count("rounding", 1000)}
	if m.word("keys") == "forever" {
		c.HonoursKeys = true
	} else if c.KeyLifetime = m.duration("keys"); c.KeyLifetime > 0 {
		c.HonoursKeys = true
	}
	m.need("linger", "how long a request may still be at work there after we hung up, for example 10m; take the longest that you can think of")
	m.end()
	return c
}
