package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configFile is a file of settings under the names of the environment variables, one NAME=VALUE a line.
type configFile struct {
	path   string
	values map[string]string
	lines  map[string]int
}

func (c *configFile) lookUp(name string) (string, bool) {
	v, ok := c.values[name]
	return v, ok
}

func (c *configFile) where(name string) string {
	return fmt.Sprintf("%s in line %d of %s", name, c.lines[name], c.path)
}

// systemSecret is a secret of one accounting system, such as ONEFOLD_SYSTEM_BOOKS_TOKEN: its name depends on the system.
var systemSecret = regexp.MustCompile(`^` + envPrefix + `SYSTEM_[A-Z0-9_]+_[A-Z0-9]+$`)

// readConfig reads a configuration file. Empty lines and lines that begin with # say nothing; a value may stand in
// quotation marks; it is taken as it is, without escapes. An unknown name is an error that names the nearest known one.
// Secrets of accounting systems become part of the environment, unless they are there.
func readConfig(path string, root *cobra.Command, warn io.Writer) (*configFile, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if err != nil {
		return nil, fmt.Errorf("the configuration file: %w", err)
	}
	c := &configFile{path: path, values: map[string]string{}, lines: map[string]int{}}
	known, secret := settingNames(root), false
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\uFEFF"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), unquote(strings.TrimSpace(value))
		switch {
		case !ok:
			return nil, fmt.Errorf("line %d of %s is no setting: write NAME=VALUE", i+1, path) // the line may be a secret
		case c.lines[name] > 0:
			return nil, fmt.Errorf("%s stands in lines %d and %d of %s: keep one of them", name, c.lines[name], i+1, path)
		case name == envName(configFlag):
			return nil, fmt.Errorf("%s in line %d of %s: a configuration file cannot name another one", name, i+1, path)
		case !known[strings.TrimSuffix(name, fileSuffix)] && !systemSecret.MatchString(name):
			return nil, unknownName(name, fmt.Sprintf("line %d of %s", i+1, path), known)
		}
		c.values[name], c.lines[name] = value, i+1
		secret = secret || isSecret(name)
	}
	if secret {
		warnIfOpen(path, warn)
	}
	return c, c.exportSystems(warn)
}

// exportSystems puts the secrets of accounting systems where their connections look for them.
func (c *configFile) exportSystems(warn io.Writer) error {
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if !systemSecret.MatchString(name) {
			continue
		}
		plain := strings.TrimSuffix(name, fileSuffix)
		if os.Getenv(plain) != "" || os.Getenv(plain+fileSuffix) != "" {
			continue
		}
		value := c.values[name]
		if name != plain {
			var err error
			if value, err = secretFromFile(name, value, warn); err != nil {
				return err
			}
		}
		if err := os.Setenv(plain, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func isSecret(name string) bool {
	return systemSecret.MatchString(name) && !strings.HasSuffix(name, fileSuffix) ||
		slices.ContainsFunc(secretFlags, func(flag string) bool { return envName(flag) == name })
}

func unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// settingNames are the names of all settings of all commands: one file serves them all.
func settingNames(root *cobra.Command) map[string]bool {
	names := map[string]bool{}
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				names[envName(f.Name)] = true
			}
		})
	})
	return names
}

func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, f)
	}
}

// unknownName says that a name is no setting, and which it may have been. A name that is like none may be a part of a
// secret that was broken over lines: it is not shown.
func unknownName(name, where string, known map[string]bool) error {
	if near := nearest(name, known); near != "" {
		return fmt.Errorf("%s names %s, which is no setting: did you mean %s?", where, name, near)
	}
	if strings.HasPrefix(name, envPrefix) {
		return fmt.Errorf("%s names %.60s, which is no setting: docs/configuration.md lists them all", where, name)
	}
	return fmt.Errorf("%s does not begin with the name of a setting: docs/configuration.md lists them all", where)
}

// nearest is the known setting that is most like the name; empty if none is.
func nearest(name string, known map[string]bool) string {
	asked, suffix := strings.ToUpper(strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")), ""
	if !known[asked] && strings.HasSuffix(asked, fileSuffix) {
		asked, suffix = strings.TrimSuffix(asked, fileSuffix), fileSuffix
	}
	if !strings.HasPrefix(asked, envPrefix) {
		asked = envPrefix + asked
	}
	best, least := "", min(4, (len(asked)-len(envPrefix))/3+1) // farther away it is another word
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if d := distance(asked, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return best + suffix
}

// warnOfTypos warns of variables of the environment that are nearly the name of a setting.
func warnOfTypos(root *cobra.Command, environment []string, warn io.Writer) {
	known := settingNames(root)
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || known[name] || known[strings.TrimSuffix(name, fileSuffix)] || systemSecret.MatchString(name) {
			continue
		}
		if near := nearest(name, known); near != "" {
			fmt.Fprintf(warn, "onefold: warning: the environment variable %s is no setting: did you mean %s?\n", name, near)
		}
	}
}

// distance is how many letters must be put in, taken out or replaced to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d++
			}
			corner = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
