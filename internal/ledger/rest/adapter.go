// Package rest is the adapter to accounting systems that this product does not know: an admin describes requests and
// answers in a definition, without code. What a definition can express is in docs/accounting-systems/any-rest-system.md.
//
// Expressions are jq (gojq): they see the invoice or an answer and the settings, never a secret, the environment or a
// file. Whatever an expression cannot say for sure is unknown.
package rest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const ownDefinition = "none"

// Adapter is how an admin connects a system by a definition.
var Adapter = ledger.Adapter{
	Name:    "rest",
	Title:   "Any other system (REST)",
	Address: "https://books.example.com",
	Fields: []ledger.Field{
		{Name: "preset", Label: "Begin with", Help: "Fills the definition below if that is empty. Look at it before you rely on it: its page in the documents says what is known.",
			Choices: append([]string{ownDefinition}, presetNames()...), Default: ownDefinition},
		{Name: "definition", Label: "Definition", Help: "How this system is spoken to, in YAML or JSON. Secrets are named in it, never written into it.", Long: true, Required: true},
		{Name: "values", Label: "Its settings", Help: "What the definition asks for, a line each, for example company: 42.", Long: true},
		{Name: "token", Label: "Token or API key", Help: "The secret that a definition calls token.", Secret: true},
		{Name: "password", Label: "Password", Help: "The secret that a definition calls password.", Secret: true},
		{Name: "client_secret", Label: "Client secret", Help: "The secret that a definition calls client_secret.", Secret: true},
		{Name: "refresh_token", Label: "Refresh token", Help: "The secret that a definition calls refresh_token.", Secret: true},
		{Name: "test_books", Label: "Only for tests", Help: "Yes: these books are a sandbox, and a proof may issue invoices there.", Choices: []string{"false", "true"}, Default: "false"},
	},
	Connect:   connect,
	TestBooks: func(s work.System) bool { return s.Settings["test_books"] == "true" },
	Drafts:    true,
	Typed:     true,
	Fill:      fill,
	Reaches:   reaches,
	TryOut: func(ctx context.Context, c ledger.Connection, reference string) (ledger.TriedOut, error) {
		return Try(ctx, c, reference)
	},
}

// fill puts the preset that was chosen into an empty definition.
func fill(settings map[string]string) {
	if strings.TrimSpace(settings["definition"]) == "" {
		settings["definition"] = preset(settings["preset"])
	}
}

// defined reads definition and settings of a system.
func defined(s work.System) (*definition, map[string]any, error) {
	source := s.Settings["definition"]
	if strings.TrimSpace(source) == "" {
		source = preset(s.Settings["preset"])
	}
	if source == "" {
		return nil, nil, problem("definition", errors.New("write a definition, or begin with one of the list"))
	}
	def, err := parse(source)
	if err != nil {
		return nil, nil, problem("definition", err)
	}
	values, err := settingsOf(def, s.Settings["values"])
	if err != nil {
		return nil, nil, problem("values", err)
	}
	return def, values, nil
}

func connect(c ledger.Connection) (ledger.System, error) {
	def, values, err := defined(c.System)
	if err != nil {
		return nil, err
	}
	if c.DraftsOnly && def.drafts == "" {
		return nil, problem("definition", errors.New("the definition does not say how a document stays a draft (drafts), so nothing can be proven here without issuing it"))
	}
	if err := rehearse(def, values); err != nil {
		return nil, problem("definition", err)
	}
	s, err := newClient(c, def, values)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// settingsOf reads what the admin typed for the definition's settings.
func settingsOf(def *definition, typed string) (map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(typed), &doc); err != nil {
		return nil, errors.New("write one setting in a line, with a colon after its name, for example company: 42")
	}
	given := map[string]string{}
	if len(doc.Content) == 1 {
		if doc.Content[0].Kind != yaml.MappingNode {
			return nil, errors.New("write one setting in a line, with a colon after its name, for example company: 42")
		}
		for i := 0; i+1 < len(doc.Content[0].Content); i += 2 {
			name, v := doc.Content[0].Content[i], doc.Content[0].Content[i+1]
			if v.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: %s must be one text", v.Line, ledger.Short(name.Value, 40))
			}
			given[name.Value] = v.Value
		}
	}
	values := map[string]any{}
	for _, s := range def.settings {
		v, ok := given[s.name]
		delete(given, s.name)
		switch {
		case ok && v != "":
			values[s.name] = v
		case s.fallback != "":
			values[s.name] = s.fallback
		case s.required:
			return nil, fmt.Errorf("%s is missing: %s", s.name, s.help)
		default:
			values[s.name] = nil
		}
	}
	for name := range given {
		return nil, fmt.Errorf("the definition has no setting %q", ledger.Short(name, 40))
	}
	return values, nil
}

// reaches is where the login by OAuth 2.0 sends the client's secret.
func reaches(s work.System) []string {
	def, values, err := defined(s)
	if err != nil || def.auth.kind != "oauth2" {
		return nil
	}
	address, err := def.auth.tokens.value(document{input: map[string]any{"settings": values}, settings: values})
	if err != nil {
		return nil
	}
	return []string{address}
}
