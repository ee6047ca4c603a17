package ledger

import (
	"fmt"
	"strconv"
	"time"
)

// Settings reads what an admin typed into the fields of an adapter, or the field's default, and keeps the first error.
type Settings struct {
	of     map[string]string
	fields []Field
	err    error
}

// Read returns the settings of this connection for the adapter's fields.
func (c Connection) Read(fields []Field) *Settings {
	return &Settings{of: c.System.Settings, fields: fields}
}

// Err is the first error, a *FieldError in the user's words; nil: there is none.
func (s *Settings) Err() error { return s.err }

// Wrong says that what stands in the field does not do. Only the first one is kept.
func (s *Settings) Wrong(name, must string) {
	if s.err == nil {
		s.err = &FieldError{Field: name, Err: fmt.Errorf("%s must be %s, not %q", s.field(name).Label, must, s.Text(name))}
	}
}

// Text is the setting as it was typed; empty if there is neither one nor a default, which is Wrong if the field is required.
func (s *Settings) Text(name string) string {
	f := s.field(name)
	text := s.of[name]
	if text == "" {
		text = f.Default
	}
	if text == "" && f.Required && s.err == nil {
		s.err = &FieldError{Field: name, Err: fmt.Errorf("%s is needed", f.Label)}
	}
	return text
}

// Duration is a time between least and most.
func (s *Settings) Duration(name string, least, most time.Duration) time.Duration {
	d, err := time.ParseDuration(s.Text(name))
	if err != nil || d < least || d > most {
		s.Wrong(name, fmt.Sprintf("a time from %s to %s, such as 90s or 2m", least, most))
	}
	return d
}

// Number is a whole number between least and most.
func (s *Settings) Number(name string, least, most int) int {
	n, err := strconv.Atoi(s.Text(name))
	if err != nil || n < least || n > most {
		s.Wrong(name, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return n
}

func (s *Settings) field(name string) Field {
	for _, f := range s.fields {
		if f.Name == name {
			return f
		}
	}
	return Field{Name: name, Label: name}
}
