package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// badValue is what the operator typed wrong: it ends the program with exit code 2, before anything is done.
type badValue struct{ error }

func (b badValue) Unwrap() error { return b.error }

// badly marks an error as one of the operator's input; nil stays nil.
func badly(err error) error {
	if err == nil {
		return nil
	}
	return badValue{err}
}

// ended is an error with an exit code of its own.
type ended struct {
	error
	code int
}

func (e ended) Unwrap() error { return e.error }

// exitCode is 2 for what was typed wrong and 1 for what went wrong, unless the command has codes of its own.
func exitCode(err error) int {
	var own ended
	if errors.As(err, &own) {
		return own.code
	}
	var bad badValue
	// cobra names missing flags only in words.
	if errors.As(err, &bad) || strings.HasPrefix(err.Error(), "required flag(s)") {
		return 2
	}
	return 1
}

// markBadInput lets commands say which of their errors are the operator's input.
func markBadInput(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return badly(check(cmd, args)) }
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return badly(err) })
	for _, sub := range cmd.Commands() {
		markBadInput(sub)
	}
}

const (
	envPrefix  = "ONEFOLD_"
	fileSuffix = "_FILE"
	configFlag = "config"
)

// envName is the environment variable of a flag.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// secretFlags hold secrets: never logged, and better given as a file than on the command line.
var secretFlags = []string{"admin-password", "api-token", "database", "metrics-token", "oidc-client-secret", "password", "session-keys", "smtp-password", "webhooks"}

// fillFlags gives each flag that is not on the command line its value: of the environment variable, else of the
// configuration file, else its default. NAME_FILE names a file that holds the value of NAME, in both places. Warnings go
// to warn; neither they nor errors show a secret.
func fillFlags(cmd *cobra.Command, warn io.Writer) error {
	path, err := configPath(cmd.Flags())
	if err != nil {
		return err
	}
	file := &configFile{}
	if path != "" {
		if file, err = readConfig(path, cmd.Root(), warn); err != nil {
			return err
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || f.Name == "help" || f.Name == configFlag {
			return
		}
		err = fillFlag(cmd.Flags(), f, file, warn)
	})
	return err
}

func configPath(flags *pflag.FlagSet) (string, error) {
	f := flags.Lookup(configFlag)
	if f == nil {
		return "", nil
	}
	if f.Changed {
		return f.Value.String(), nil
	}
	return os.Getenv(envName(configFlag)), nil
}

func fillFlag(flags *pflag.FlagSet, f *pflag.Flag, file *configFile, warn io.Writer) error {
	name := envName(f.Name)
	value, where, given, err := lookUp(name, "the environment variable "+name, os.LookupEnv, warn)
	if err == nil && !given {
		value, where, given, err = lookUp(name, file.where(name), file.lookUp, warn)
	}
	if err != nil || !given {
		return err
	}
	if err := flags.Set(f.Name, value); err != nil {
		if slices.Contains(secretFlags, f.Name) {
			err = errors.New("its value cannot be used")
		}
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

// lookUp is the value of a name, or what is in the file that NAME_FILE names, and where it stands.
func lookUp(name, at string, source func(string) (string, bool), warn io.Writer) (value, where string, given bool, err error) {
	value, given = source(name)
	path, fromFile := source(name + fileSuffix)
	switch {
	case path == "" || !fromFile:
		return value, at, given, nil
	case given && value != "":
		return "", "", false, fmt.Errorf("%s and %s are both given: give one of them", name, name+fileSuffix)
	}
	value, err = secretFromFile(name+fileSuffix, path, warn)
	return value, name + fileSuffix, true, err
}

// secretFromFile reads a value from a file of its own, without the spaces and line ends around it.
func secretFromFile(name, path string, warn io.Writer) (string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		return "", fmt.Errorf("%s: %s is empty", name, path)
	}
	warnIfOpen(path, warn)
	return value, nil
}

// warnIfOpen warns if a file with secrets can be read by everybody on the machine, or changed by its group.
func warnIfOpen(path string, warn io.Writer) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o037 == 0 {
		return
	}
	fmt.Fprintf(warn, "onefold: warning: %s holds secrets and its mode is %04o: let only its owner and their group read it (chmod 640 %s)\n", path, info.Mode().Perm(), path)
}
