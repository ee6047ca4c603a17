package rest

import (
	"errors"
	"fmt"
	"io"
	"strings"

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
	var doc, more yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(source))
	if err := decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(ledger.Short(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("line 1: a definition is a list of parts such as name, auth, identity, steps, record and search")
	}
	if !errors.Is(decoder.Decode(&more), io.EOF) {
		return nil, errors.New("a definition is one document: take out the lines of ---")
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
