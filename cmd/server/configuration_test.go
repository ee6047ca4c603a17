package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The page about the settings is that of the code.
func TestConfigurationPageIsFresh(t *testing.T) {
	var want bytes.Buffer
	if err := writeSettings(&want, rootCommand()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/configuration.md is not that of the code: run go generate ./cmd/server")
	}
}

func TestEverySettingOfTheServerHasAnExample(t *testing.T) {
	serve, _, err := rootCommand().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flagsOf(serve) {
		if settingExamples[f.Name] == "" {
			t.Errorf("--%s has no example in configuration.go", f.Name)
		}
		if len(f.Usage) < 10 {
			t.Errorf("--%s does not say what it is: %q", f.Name, f.Usage)
		}
	}
	eachCommand(rootCommand(), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.HasSuffix(f.Name, "-file") {
				t.Errorf("%s --%s: the name would be taken for a file that holds the value of another setting", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// filled is what the flags of serve hold at last.
func filled(t *testing.T, env map[string]string, args ...string) (values map[string]string, warnings string, err error) {
	t.Helper()
	for k, v := range env {
		t.Setenv(k, v)
	}
	var warn bytes.Buffer
	root := rootCommand()
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	serve.RunE = func(cmd *cobra.Command, _ []string) error {
		values = map[string]string{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
		return nil
	}
	root.SetArgs(append([]string{"serve"}, args...))
	root.SetOut(&warn)
	root.SetErr(&warn)
	err = root.ExecuteContext(t.Context())
	return values, warn.String(), err
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatWinsAmongSettings(t *testing.T) {
	file := write(t, "onefold.conf", "\uFEFF# a remark\r\n\r\nONEFOLD_ZONE = Europe/Berlin\r\nONEFOLD_LISTEN=127.0.0.1:1\nONEFOLD_SMTP_USER=\"  spaces  \"\nONEFOLD_SMTP_PASSWORD=pass#word=with'signs\n"+
		"ONEFOLD_OIDC_SCOPES=groups,more\nONEFOLD_DAYS=30\n", 0o600)
	values, warnings, err := filled(t, map[string]string{"ONEFOLD_CONFIG": file, "ONEFOLD_LISTEN": "127.0.0.1:2", "ONEFOLD_NODE": "two"}, "--node", "one")
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"zone": "Europe/Berlin", "listen": "127.0.0.1:2", "node": "one", "smtp-user": "  spaces  ", "smtp-password": "pass#word=with'signs",
		"oidc-scopes": "[groups,more]", "session-idle": "2h0m0s"} {
		if values[flag] != want {
			t.Errorf("--%s is %q, not %q", flag, values[flag], want)
		}
	}
	if warnings != "" {
		t.Errorf("warns: %s", warnings)
	}
}

func TestSecretsComeFromFiles(t *testing.T) {
	keys := write(t, "keys", "the-keys\n", 0o640)
	for _, flag := range []string{"session-keys", "database", "smtp-password", "oidc-client-secret", "api-token"} {
		for name, env := range map[string]map[string]string{"environment": {envName(flag) + "_FILE": keys},
			"file": {"ONEFOLD_CONFIG": write(t, "onefold.conf", envName(flag)+"_FILE="+keys+"\n", 0o644)}} {
			t.Run(flag+" by "+name, func(t *testing.T) {
				values, warnings, err := filled(t, env)
				if err != nil || values[flag] != "the-keys" || warnings != "" {
					t.Errorf("%q %q %v", values[flag], warnings, err)
				}
			})
		}
	}
	t.Run("systems", func(t *testing.T) {
		t.Setenv("ONEFOLD_SYSTEM_OTHER_TOKEN", "of the environment")
		t.Setenv("ONEFOLD_SYSTEM_MY_BOOKS_TOKEN", "")
		os.Unsetenv("ONEFOLD_SYSTEM_MY_BOOKS_TOKEN")
		conf := write(t, "onefold.conf", "ONEFOLD_SYSTEM_MY_BOOKS_TOKEN_FILE="+keys+"\nONEFOLD_SYSTEM_OTHER_TOKEN=of the file\n", 0o600)
		if _, _, err := filled(t, nil, "--config", conf); err != nil {
			t.Fatal(err)
		}
		if a, b := os.Getenv("ONEFOLD_SYSTEM_MY_BOOKS_TOKEN"), os.Getenv("ONEFOLD_SYSTEM_OTHER_TOKEN"); a != "the-keys" || b != "of the environment" {
			t.Errorf("%q %q", a, b)
		}
	})
	t.Run("open to all", func(t *testing.T) {
		for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: false, 0o440: false, 0o644: true, 0o660: true, 0o604: true} {
			for name, env := range map[string]map[string]string{"secret": {"ONEFOLD_API_TOKEN_FILE": write(t, "secret", "s3cret", mode)},
				"file": {"ONEFOLD_CONFIG": write(t, "onefold.conf", "ONEFOLD_API_TOKEN=s3cret", mode)}} {
				t.Run(fmt.Sprintf("%s with %o", name, mode), func(t *testing.T) {
					_, warnings, err := filled(t, env)
					if err != nil || strings.Contains(warnings, "chmod 640") != warned || strings.Contains(warnings, "s3cret") {
						t.Errorf("%q %v", warnings, err)
					}
				})
			}
		}
	})
}

func TestBadSettingsAreOneSentence(t *testing.T) {
	conf := func(text string) map[string]string {
		return map[string]string{"ONEFOLD_CONFIG": write(t, "onefold.conf", text, 0o600)}
	}
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"no such file":           {map[string]string{"ONEFOLD_CONFIG": "/nowhere/onefold.conf"}, nil, "/nowhere/onefold.conf"},
		"unknown name":           {conf("# x\nONEFOLD_LISTN=:1"), nil, "line 2 of"},
		"nearest name":           {conf("ONEFOLD_LISTN=:1"), nil, "did you mean ONEFOLD_LISTEN?"},
		"as a flag":              {conf("session-idel=3h"), nil, "did you mean ONEFOLD_SESSION_IDLE?"},
		"of a file":              {conf("ONEFOLD_SMTP_PASSWD_FILE=/x"), nil, "did you mean ONEFOLD_SMTP_PASSWORD_FILE?"},
		"like none":              {conf("ONEFOLD_COLOUR_OF_THE_SKY=blue"), nil, "ONEFOLD_COLOUR_OF_THE_SKY, which is no setting"},
		"a secret over lines":    {conf("ONEFOLD_SESSION_KEYS=abc\nS3CRETS3CRETS3CRETS3CRETS3CRET=="), nil, "line 2 of"},
		"no setting":             {conf("s3cret"), nil, "write NAME=VALUE"},
		"twice":                  {conf("ONEFOLD_ZONE=UTC\nONEFOLD_ZONE=UTC"), nil, "lines 1 and 2"},
		"another file":           {conf("ONEFOLD_CONFIG=/x"), nil, "cannot name another"},
		"value in the file":      {conf("ONEFOLD_SESSION_IDLE=soon"), nil, "ONEFOLD_SESSION_IDLE in line 1"},
		"value in the variable":  {map[string]string{"ONEFOLD_SESSION_IDLE": "soon"}, nil, "the environment variable ONEFOLD_SESSION_IDLE"},
		"both":                   {map[string]string{"ONEFOLD_API_TOKEN": "s3cret", "ONEFOLD_API_TOKEN_FILE": "/x"}, nil, "are both given"},
		"empty secret":           {map[string]string{"ONEFOLD_API_TOKEN_FILE": write(t, "empty", "\n", 0o600)}, nil, "is empty"},
		"missing secret":         {map[string]string{"ONEFOLD_API_TOKEN_FILE": "/nowhere"}, nil, "ONEFOLD_API_TOKEN_FILE"},
		"missing system secret":  {conf("ONEFOLD_SYSTEM_X_TOKEN_FILE=/nowhere"), nil, "ONEFOLD_SYSTEM_X_TOKEN_FILE"},
		"unknown flag":           {nil, []string{"--listn", ":1"}, "unknown flag"},
		"an argument":            {nil, []string{"now"}, "now"},
		"value on the line":      {nil, []string{"--session-idle", "soon"}, "--session-idle"},
		"file of an empty name":  {conf("=x"), nil, "line 1 of"},
		"a name of another kind": {conf("DATABASE_URL=postgres://u:s3cret@h/d"), nil, "line 1 of"},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := filled(t, c.env, c.args...)
			if err == nil || exitCode(err) != 2 {
				t.Fatalf("%v", err)
			}
			text := err.Error()
			if !strings.Contains(text, c.want) || strings.Contains(text, "\n") || strings.Contains(strings.ToLower(text+warnings), "s3cret") {
				t.Errorf("says %q, which should name %q", text, c.want)
			}
		})
	}
}

// What a command finds out about its settings counts as typed wrong too; what goes wrong later does not.
func TestExitCodes(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct {
		want int
		args []string
	}{
		"zone": {2, []string{"serve", "--data", folder, "--zone", "Mars/Olympus"}}, "proxies": {2, []string{"serve", "--data", folder, "--trusted-proxies", "all"}},
		"mail": {2, []string{"serve", "--data", folder, "--smtp-host", "mail.example.com"}}, "digest": {2, []string{"serve", "--data", folder, "--notice-digest", "1s"}},
		"command": {2, []string{"explode"}}, "missing": {2, []string{"system", "add"}}, "keys": {2, []string{"serve", "--session-keys", "short"}},
		"database": {1, []string{"migrate", "--database", folder}}, "address": {1, []string{"serve", "--data", folder, "--listen", "256.0.0.1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := command(t, c.args...); err == nil || exitCode(err) != c.want {
				t.Errorf("%v, not exit code %d", err, c.want)
			}
		})
	}
}

func TestMistypedVariablesAreWarnedOf(t *testing.T) {
	var warn bytes.Buffer
	warnOfTypos(rootCommand(), []string{"ONEFOLD_LISTN=:1", "ONEFOLD_ZONE=UTC", "ONEFOLD_TEST_POSTGRES=x", "ONEFOLD_AXE=/axe.js", "ONEFOLD_REQUIRE_AXE=1", "ONEFOLD_REQUIRE_BROWSER=1",
		"ONEFOLD_SCREENSHOTS=/x", "ONEFOLD_SYSTEM_BOOKS_TOKEN=s3cret", "ONEFOLD_API_TOKEN_FILE=/x", "PATH=/bin"}, &warn)
	if got := warn.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "ONEFOLD_LISTN is no setting: did you mean ONEFOLD_LISTEN?") {
		t.Error(got)
	}
}
