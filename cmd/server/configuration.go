package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:generate sh -c "go run . metrics >../../docs/operations/metrics.md.new && mv ../../docs/operations/metrics.md.new ../../docs/operations/metrics.md"
//go:generate sh -c "go run . configuration >../../docs/configuration.md.new && mv ../../docs/configuration.md.new ../../docs/configuration.md"

// configurationCommand prints docs/configuration.md.
func configurationCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "configuration",
		Short: "Print every setting: its names, default, meaning and an example",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return writeSettings(cmd.OutOrStdout(), cmd.Root()) },
	}
}

// settingExamples are values as somebody would give them, by flag.
var settingExamples = map[string]string{
	"config": "/etc/onefold/onefold.conf", "database-connections": "32", "database": "postgres://onefold@db.example/onefold", "data": "/var/lib/onefold", "node": "billing-1",
	"listen": "0.0.0.0:8080", "admin-password": "(in a file)", "api-token": "(in a file)", "secure": "true", "hosts": "onefold.example.com",
	"trusted-proxies": "10.0.0.7,192.168.0.0/24", "zone": "Europe/Berlin",
	"session-keys": "(in a file; make one with `openssl rand -base64 32`)", "session-idle": "30m", "session-longest": "8h",
	"public-url": "https://onefold.example.com", "passwords": "false", "refused-words": "acme,contoso", "refused-passwords": "/etc/onefold/breached.txt",
	"token-per-minute": "600", "oidc-issuer": "https://login.example.com", "oidc-name": "Example account", "oidc-client-id": "onefold",
	"oidc-client-secret": "(in a file)", "oidc-scopes": "groups", "oidc-groups-claim": "roles", "oidc-group-roles": "finance=operator;it=ops+admin",
	"oidc-default-roles": "viewer", "oidc-link-email": "true", "oidc-provision": "true",
	"log-format": "json", "log-level": "debug", "metrics-listen": "127.0.0.1:9090", "metrics-token": "(in a file)", "trace": "true",
	"smtp-host": "mail.example.com", "smtp-port": "587", "smtp-tls": "tls", "smtp-user": "onefold", "smtp-password": "(in a file)",
	"mail-from": "onefold@example.com", "mail-name": "Invoices", "webhooks": "(in a file) finance=https://hooks.slack.com/services/…",
	"webhook-plain-hosts": "chat.internal", "outcome-hosts": "shop.internal", "notice-digest": "1h", "notice-hour": "7",
}

// defaults are those that depend on the machine or are worked out at start.
var defaults = map[string]string{"node": "host name and process id"}

// settingGroups are the sections of the settings of serve, by the beginnings of their names; the last takes the rest.
var settingGroups = []struct {
	title    string
	prefixes []string
}{
	{"Single sign-on", []string{"oidc-"}},
	{"Telling people", []string{"smtp-", "mail-", "webhook", "notice-", "outcome-"}},
	{"Telling machines", []string{"log-", "metrics-", "trace"}},
	{"People", []string{"admin-password", "session-", "passwords", "refused-", "token-per-minute", "api-token"}},
	{"The server", []string{""}},
}

// commonFlags belong to every command that uses the database; they are listed with serve.
var commonFlags = []string{"config", "database", "data", "node"}

const settingsHead = `<!-- Written by "go generate ./cmd/server" from the flags in cmd/server; a test fails if it is out of date. -->

# Configuration

Every setting has one name in three places. What comes first wins:

1. the command line, ` + "`--session-idle 30m`" + `;
2. the environment, ` + "`ONEFOLD_SESSION_IDLE=30m`" + `: the flag's name in capitals, with ` + "`_` for `-`" + `;
3. the configuration file that ` + "`--config` or `ONEFOLD_CONFIG`" + ` names, one ` + "`ONEFOLD_SESSION_IDLE=30m`" + ` a line;
4. the default.

**Secrets** are marked 🔒. Give them in files: ` + "`ONEFOLD_SMTP_PASSWORD_FILE=/run/secrets/smtp`" + ` names a file that holds the value of
` + "`ONEFOLD_SMTP_PASSWORD`" + `, in the environment and in the configuration file. Every other setting may be given so too. A file with
secrets that everybody on the machine may read, or that its group may change, is warned of at start. Values of secrets are never logged
and never part of an error message.

**The file** has one ` + "`NAME=VALUE`" + ` a line. Lines that begin with ` + "`#`" + ` are remarks. A value is taken as it is; quotation marks around it are
taken off. A name that no setting has is an error that names the nearest one, so a typing mistake is not silently a default. One file
serves all commands; each takes what it has a flag for.

What is wrong with a setting is said in one sentence, and the program ends with exit code 2 before it does anything. Exit code 1 is
for what went wrong later.

Limits of one accounting system (tries, delays, rate, calls at the same time, approval limit) are set on its page, not here: all
servers share them.
`

const settingsFoot = `
## Secrets of accounting systems

Credentials are entered on the system's page and stored encrypted. Where they must not be stored, the server reads them from
` + "`ONEFOLD_SYSTEM_<ID>_TOKEN`" + ` 🔒 or the file that ` + "`ONEFOLD_SYSTEM_<ID>_TOKEN_FILE`" + ` names, in the environment or the configuration file;
` + "`<ID>`" + ` is the system's id in capitals with ` + "`_` for `-`" + `.

More about running a server: [operations](operations/configuration.md).
`

// writeSettings writes every setting of every command as Markdown.
func writeSettings(w io.Writer, root *cobra.Command) error {
	var b strings.Builder
	b.WriteString(settingsHead)
	var serve *cobra.Command
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.CommandPath() == "onefold serve" {
			serve = cmd
		}
	})
	groups := make([][]*pflag.Flag, len(settingGroups))
	if f := root.PersistentFlags().Lookup(configFlag); f != nil {
		groups[len(groups)-1] = append(groups[len(groups)-1], f)
	}
	for _, f := range flagsOf(serve) {
		at := slices.IndexFunc(settingGroups, func(g struct {
			title    string
			prefixes []string
		}) bool {
			return slices.ContainsFunc(g.prefixes, func(p string) bool { return strings.HasPrefix(f.Name, p) })
		})
		groups[at] = append(groups[at], f)
	}
	for i := len(groups) - 1; i >= 0; i-- { // the rest first
		writeTable(&b, settingGroups[i].title, groups[i])
	}
	b.WriteString("\n## Other commands\n\nThe same holds for their flags. `--database`, `--data`, `--node` and `--config` are as above.\n")
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd == serve || cmd.Hidden || strings.HasPrefix(cmd.CommandPath(), "onefold completion") { // cobra's own
			return
		}
		flags := slices.DeleteFunc(flagsOf(cmd), func(f *pflag.Flag) bool { return slices.Contains(commonFlags, f.Name) })
		if len(flags) > 0 && cmd != root {
			b.WriteString("\n### " + cmd.CommandPath() + "\n\n" + cmd.Short + ".\n")
			writeTable(&b, "", flags)
		}
	})
	b.WriteString(settingsFoot)
	_, err := io.WriteString(w, b.String())
	return err
}

func flagsOf(cmd *cobra.Command) (list []*pflag.Flag) {
	if cmd == nil {
		return nil
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			list = append(list, f)
		}
	})
	return list
}

func writeTable(b *strings.Builder, title string, flags []*pflag.Flag) {
	if title != "" {
		b.WriteString("\n## " + title + "\n")
	}
	b.WriteString("\n| flag | environment | default | what it is | example |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range flags {
		usage, otherwise := splitDefault(f)
		name := "`" + envName(f.Name) + "`"
		if slices.Contains(secretFlags, f.Name) {
			name += " 🔒"
		}
		fmt.Fprintf(b, "| `--%s` | %s | %s | %s | %s |\n", f.Name, name, cell(otherwise), cell(usage), cell(code(settingExamples[f.Name])))
	}
}

// splitDefault takes "(default: …)" out of a flag's text, where it says more than the value does.
func splitDefault(f *pflag.Flag) (usage, otherwise string) {
	usage = f.Usage
	if i := strings.LastIndex(usage, " (default: "); i >= 0 && strings.HasSuffix(usage, ")") {
		return usage[:i], usage[i+len(" (default: ") : len(usage)-1]
	}
	if d, ok := defaults[f.Name]; ok {
		return usage, d
	}
	if f.DefValue == "" || f.DefValue == "[]" {
		return usage, "none"
	}
	if f.Value.Type() == "duration" {
		return usage, code(roundDuration(f.DefValue))
	}
	return usage, code(f.DefValue)
}

// roundDuration is a duration without its zeros: 2h0m0s is 2h.
func roundDuration(s string) string {
	for _, zero := range []struct{ after, cut string }{{"m", "0s"}, {"h", "0m"}} {
		if short, ok := strings.CutSuffix(s, zero.cut); ok && strings.HasSuffix(short, zero.after) {
			s = short
		}
	}
	return s
}

func code(s string) string {
	if s == "" || strings.HasPrefix(s, "(") {
		return s
	}
	return "`" + s + "`"
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
