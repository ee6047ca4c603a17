package automation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Draft is a connection as an admin typed it.
type Draft struct {
	Adapter  string // of a new system; a system never changes it
	Name     string
	Address  string
	Settings map[string]string // by field; empty: the field's default
	Secrets  map[string]string // by field; empty: what is stored stays
	Forget   []string          // secrets that are stored no longer
	Mark     string            // the connection that the person saw; see ConnectionMark
}

// BadFields says by field what to do: "name", "address", or a field of the adapter.
type BadFields map[string]string

func (b BadFields) Error() string {
	var parts []string
	for _, f := range slices.Sorted(maps.Keys(b)) {
		parts = append(parts, b[f])
	}
	return strings.Join(parts, " ")
}

// The names of fields that are not the adapter's.
const (
	FieldName    = "name"
	FieldAddress = "address"
)

const (
	longestName  = 100
	longestValue = 2000
	// LongestText is the most bytes of a setting of many lines. Doubled and more by a form's encoding it must fit into one.
	LongestText = 20_000
)

// applied is the system with the draft's name, address and settings; BadFields if they cannot be.
func (d Draft) applied(sys work.System, a ledger.Adapter) (work.System, error) {
	bad := BadFields{}
	sys.Name = strings.Join(strings.Fields(d.Name), " ")
	switch {
	case sys.Name == "":
		bad[FieldName] = "Give it a name that your colleagues know it by."
	case utf8.RuneCountInString(sys.Name) > longestName:
		bad[FieldName] = fmt.Sprintf("At most %d characters.", longestName)
	}
	sys.Address = strings.TrimSpace(d.Address)
	if a.Address == "" {
		sys.Address = ""
	} else if why := badAddress(sys.Address); why != "" {
		bad[FieldAddress] = why
	}
	settings := map[string]string{}
	typed := maps.Clone(d.Settings)
	if a.Fill != nil && typed != nil {
		a.Fill(typed)
	}
	for _, f := range a.Fields {
		v := strings.TrimSpace(typed[f.Name])
		unfit := unfit
		if f.Long {
			v, unfit = trimLines(typed[f.Name]), unfitLines
		}
		if f.Secret {
			if v = strings.TrimSpace(d.Secrets[f.Name]); unfit(v) {
				bad[f.Name] = "It holds characters that cannot be sent, or is too long: copy it again."
			}
			continue
		}
		switch {
		case v == "" && f.Required && f.Default == "":
			bad[f.Name] = "This is needed."
		case unfit(v):
			bad[f.Name] = "It holds characters that cannot be sent, or is too long."
		case v != "" && len(f.Choices) > 0 && !slices.Contains(f.Choices, v):
			bad[f.Name] = "Choose one of the list."
		case v != "" && v != f.Default:
			settings[f.Name] = v
		}
	}
	if sys.Settings = settings; len(settings) == 0 {
		sys.Settings = nil
	}
	if len(bad) > 0 {
		return sys, bad
	}
	return sys, nil
}

func badAddress(address string) string {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return "The address is needed."
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || unfit(address):
		return "Write the whole address, such as https://books.example.com/api."
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "The address must not hold a login, a question mark or a #: the login has fields of its own."
	}
	return ""
}

func unfit(s string) bool {
	return len(s) > longestValue || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
}

// trimLines is a text of many lines with one kind of line end, without empty lines around it.
func trimLines(s string) string {
	return strings.TrimRight(strings.TrimLeft(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), " \t\n")
}

func unfitLines(s string) bool {
	return len(s) > LongestText || !utf8.ValidString(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) })
}

// secrets are the stored ones as the draft leaves them, and what goes on record about the change. BadFields if one is
// missing, or if a stored one would go to another place than so far.
func (d Draft) secrets(a ledger.Adapter, before, after work.System, stored map[string]string, given func(field string) bool) (map[string]string, []SettingText, error) {
	bad, secrets := BadFields{}, map[string]string{}
	moved := before.ID != "" && (origin(before.Address) != origin(after.Address) || !sent(a, before, after))
	var said []string
	for _, f := range a.Fields {
		if !f.Secret {
			continue
		}
		typed, was := strings.TrimSpace(d.Secrets[f.Name]), stored[f.Name]
		switch {
		case typed != "":
			secrets[f.Name] = typed
			if typed != was {
				said = append(said, f.Label+": "+map[bool]string{true: "entered", false: "replaced"}[was == ""])
			}
		case slices.Contains(d.Forget, f.Name):
			if was != "" {
				said = append(said, f.Label+": removed")
			}
			if f.Required && !given(f.Name) {
				bad[f.Name] = "It is needed and cannot be removed: enter another one."
			}
		case moved && (was != "" || given(f.Name)):
			bad[f.Name] = "The address leads to another place: enter this again, so that it never goes anywhere unseen."
		case was != "":
			secrets[f.Name] = was
		case f.Required && !given(f.Name):
			bad[f.Name] = "This is needed."
		}
	}
	if len(bad) > 0 {
		return nil, nil, bad
	}
	if len(said) == 0 {
		return secrets, nil, nil
	}
	return secrets, []SettingText{{What: "credentials", After: strings.Join(said, "; ")}}, nil
}

// sent reports whether secrets go to no place that they did not go to before.
func sent(a ledger.Adapter, before, after work.System) bool {
	if a.Reaches == nil {
		return true
	}
	var known []string
	for _, address := range a.Reaches(before) {
		known = append(known, origin(address))
	}
	return !slices.ContainsFunc(a.Reaches(after), func(address string) bool { return !slices.Contains(known, origin(address)) })
}

// origin is the part of an address that says who gets what is sent there.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// changedSettings are the name, address and settings before and after, as they go on record.
func changedSettings(was, is work.System) (before, after map[string]string) {
	before, after = map[string]string{}, map[string]string{}
	note := func(what, a, b string) {
		if a != b {
			before[what], after[what] = a, b
		}
	}
	note("name", was.Name, is.Name)
	note("address", was.Address, is.Address)
	names := maps.Clone(was.Settings)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, is.Settings)
	for name := range names {
		note(name, was.Settings[name], is.Settings[name])
	}
	return before, after
}

// idFor is a short stable id made of a name: "Acme's books" is "acme-s-books".
func idFor(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 30 {
			break
		}
	}
	id := strings.Trim(b.String(), "-")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = strings.TrimSuffix("system-"+id, "-")
	}
	return id
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:12])
}
