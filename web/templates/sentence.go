package templates

import "strings"

// Say fills the {names} of a pattern. A value is a string, a Stamp or a Sentence. A name without a value stays as it is,
// so that it is seen.
func Say(pattern string, values map[string]any) Sentence {
	var s Sentence
	for {
		before, rest, found := strings.Cut(pattern, "{")
		s = s.text(before)
		if !found {
			return s
		}
		name, after, _ := strings.Cut(rest, "}")
		switch v := values[name].(type) {
		case string:
			s = s.text(v)
		case Stamp:
			s = append(s, Part{At: &v})
		case Sentence:
			s = append(s, v...)
		default:
			s = s.text("{" + name + "}")
		}
		pattern = after
	}
}

func (s Sentence) text(t string) Sentence {
	if t == "" {
		return s
	}
	return append(s, Part{Text: t})
}

// List joins moments: "10:05, 10:12 and 10:30".
func (w words) List(at []Stamp) Sentence {
	var s Sentence
	for i := range at {
		switch {
		case i == 0:
		case i == len(at)-1:
			s = s.text(w.And)
		default:
			s = s.text(", ")
		}
		s = append(s, Part{At: &at[i]})
	}
	return s
}

// String is the sentence as plain text.
func (s Sentence) String() string {
	var b strings.Builder
	for _, p := range s {
		if p.At != nil {
			b.WriteString(p.At.Text)
			continue
		}
		b.WriteString(p.Text)
	}
	return b.String()
}
