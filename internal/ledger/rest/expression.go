package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"onefold/internal/ledger"
)

// Bounds of one expression.
const (
	longestRun    = 500 * time.Millisecond
	mostOutput    = 256 << 10 // bytes of text in the result, and values in it
	maxExpression = 8 << 10
)

// expression is one jq expression of a definition. It sees only the document that it is asked about: no environment, no
// files, no further input.
type expression struct {
	line int
	part string // where it stands, for example "steps.create.answer.accepted"
	code *gojq.Code

	source string
}

// document is what expressions are asked about: an input, and everywhere $settings.
type document struct {
	input    any
	settings map[string]any
}

// with is the document with more in it.
func (d document) with(more map[string]any) document {
	in := map[string]any{}
	if was, ok := d.input.(map[string]any); ok {
		maps.Copy(in, was)
	}
	maps.Copy(in, more)
	return document{in, d.settings}
}

// of is a document about another input.
func (d document) of(input any) document { return document{input, d.settings} }

// wrong is what is the matter with a part of a definition, in an admin's words.
type wrong struct {
	line int
	part string
	what string
}

func (w *wrong) Error() string { return fmt.Sprintf("line %d, %s: %s", w.line, w.part, w.what) }

func (e *expression) wrong(format string, args ...any) error {
	return &wrong{e.line, e.part, fmt.Sprintf(format, args...)}
}

func newExpression(line int, part, source string) (*expression, error) {
	e := &expression{line: line, part: part, source: source}
	if strings.TrimSpace(source) == "" {
		return nil, e.wrong("there is no expression")
	}
	if len(source) > maxExpression {
		return nil, e.wrong("the expression is longer than %d characters", maxExpression)
	}
	query, err := gojq.Parse(source)
	if err != nil {
		return nil, e.wrong("this is no jq expression: %s", ledger.Short(err.Error(), 120))
	}
	if e.code, err = gojq.Compile(query, append(functions(), gojq.WithVariables([]string{"$settings"}))...); err != nil {
		return nil, e.wrong("this jq expression cannot be used: %s", ledger.Short(err.Error(), 120))
	}
	return e, nil
}

// value is the one value of the expression. None, more than one, one that is too large and one that takes too long are
// errors.
func (e *expression) value(d document) (v any, err error) {
	defer func() {
		if recover() != nil {
			v, err = nil, e.wrong("the expression failed inside")
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), longestRun)
	defer cancel()
	iter := e.code.RunWithContext(ctx, d.input, d.settings)
	v, ok := iter.Next()
	if !ok {
		return nil, e.wrong("it gives no value")
	}
	if err, is := v.(error); is {
		return nil, e.failed(ctx, err)
	}
	more, ok := iter.Next()
	if err, is := more.(error); ok && is {
		return nil, e.failed(ctx, err)
	}
	if ok {
		return nil, e.wrong("it gives more than one value")
	}
	if left := size(v, mostOutput); left < 0 {
		return nil, e.wrong("its value is too large")
	}
	return v, nil
}

// Said is what an expression itself says with error("…").
type said struct{ text string }

func (s *said) Error() string { return s.text }

func (e *expression) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return e.wrong("it takes too long")
	}
	var halt *gojq.HaltError
	if errors.As(err, &halt) {
		return e.wrong("it must not halt")
	}
	var own gojq.ValueError
	if errors.As(err, &own) {
		if text, ok := own.Value().(string); ok {
			return errors.Join(e.wrong("it refuses"), &said{ledger.Short(text, 150)})
		}
	}
	return e.wrong("%s", ledger.Short(err.Error(), 120))
}

// size is what of the budget is left after v.
func size(v any, left int) int {
	left--
	switch v := v.(type) {
	case string:
		return left - len(v)
	case json.Number:
		return left - len(v)
	case []any:
		for _, one := range v {
			if left = size(one, left); left < 0 {
				break
			}
		}
	case map[string]any:
		for name, one := range v {
			if left = size(one, left-len(name)); left < 0 {
				break
			}
		}
	}
	return left
}

// truth is the value of a condition.
func (e *expression) truth(d document) (bool, error) {
	v, err := e.value(d)
	if err != nil {
		return false, err
	}
	yes, ok := v.(bool)
	if !ok {
		return false, e.wrong("it must be true or false, not %s", gojq.TypeOf(v))
	}
	return yes, nil
}

// text is the value as a text. Null is an error.
func (e *expression) text(d document) (string, error) {
	v, err := e.value(d)
	if err != nil {
		return "", err
	}
	s, ok := v.(string)
	if !ok {
		return "", e.wrong("it must be a text, not %s", gojq.TypeOf(v))
	}
	return s, nil
}

// plain is a text, number or truth value as a text.
func (e *expression) plain(d document) (string, error) {
	v, err := e.value(d)
	if err != nil {
		return "", err
	}
	return e.written(v)
}

// written is how a value is written into a path, a query or a header: lists and objects as JSON.
func (e *expression) written(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil:
		return "", e.wrong("it has no value")
	}
	b, err := gojq.Marshal(v)
	if err != nil {
		return "", e.wrong("its value cannot be written")
	}
	return string(b), nil
}
