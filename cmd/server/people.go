package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/work"
)

// peopleFlags say how people sign in.
type peopleFlags struct {
	sessionKeys    string
	idle, longest  time.Duration
	publicURL      string
	passwords      bool
	refused        []string
	refusedList    string
	tokenPerMinute int

	sso                   auth.SSOConfig
	ssoScopes             []string
	groupRoles, ssoOthers string
}

func (p *peopleFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.sessionKeys, "session-keys", "", "keys of cookies and sealed secrets, newest first, with commas; the same on all servers (default: generated into the data folder)")
	f.DurationVar(&p.idle, "session-idle", 2*time.Hour, "a session that is not used for so long ends")
	f.DurationVar(&p.longest, "session-longest", 12*time.Hour, "and every session ends after so long")
	f.StringVar(&p.publicURL, "public-url", "", "the address under which people reach these pages, for example https://onefold.example.com; needed for single sign-on and to connect accounts")
	f.BoolVar(&p.passwords, "passwords", true, "people may sign in by password; false: by single sign-on only")
	f.StringSliceVar(&p.refused, "refused-words", nil, "words that do not make a password, such as the firm's name, with commas")
	f.StringVar(&p.refusedList, "refused-passwords", "", "file with passwords that nobody may take, one a line, such as a public list of breached ones")
	f.IntVar(&p.tokenPerMinute, "token-per-minute", 1200, "requests of one API token in a minute")
	f.StringVar(&p.sso.Issuer, "oidc-issuer", "", "address of the OpenID Connect provider; empty: no single sign-on")
	f.StringVar(&p.sso.Name, "oidc-name", "", "what the provider is called on the button (default: its host)")
	f.StringVar(&p.sso.ClientID, "oidc-client-id", "", "our client id at the provider")
	f.StringVar(&p.sso.ClientSecret, "oidc-client-secret", "", "our client secret at the provider")
	f.StringSliceVar(&p.ssoScopes, "oidc-scopes", nil, "scopes to ask for besides openid, email and profile, with commas")
	f.StringVar(&p.sso.GroupsClaim, "oidc-groups-claim", "groups", "the claim that names a person's groups")
	f.StringVar(&p.groupRoles, "oidc-group-roles", "", "roles of each group, for example finance=operator;it=ops+admin (default: roles are given here)")
	f.StringVar(&p.ssoOthers, "oidc-default-roles", "", "roles of people in none of these groups, with commas (default: they are refused)")
	f.BoolVar(&p.sso.LinkByEmail, "oidc-link-email", false, "take a person whom we know by the same verified e-mail address")
	f.BoolVar(&p.sso.Provision, "oidc-provision", false, "add people whom we do not know, by their verified e-mail address")
}

// config completes the accounts' settings. Data is the folder of generated keys.
func (p *peopleFlags) config(data string, log *slog.Logger) (auth.Config, error) {
	c := auth.Config{Idle: p.idle, Absolute: p.longest, NoPasswords: !p.passwords, Refused: p.refused, TokenPerMinute: p.tokenPerMinute, Log: log}
	var err error
	if p.refusedList != "" {
		if c.RefusedPasswords, err = readRefused(p.refusedList); err != nil {
			return c, err
		}
	}
	if p.sessionKeys != "" {
		c.Keys, err = auth.ParseKeys(p.sessionKeys)
	} else if err = os.MkdirAll(data, 0o700); err == nil {
		if c.Keys, err = auth.KeysFromFile(filepath.Join(data, "session.keys")); err != nil {
			err = fmt.Errorf("%w (or give --session-keys)", err)
		}
	} else {
		err = fmt.Errorf("the data folder cannot be made, it is needed unless --session-keys is given: %w", err)
	}
	if err != nil || p.sso.Issuer == "" {
		return c, err
	}
	if !strings.HasPrefix(p.publicURL, "https://") && !strings.HasPrefix(p.publicURL, "http://") {
		return c, errors.New("single sign-on needs --public-url, the address under which people reach these pages")
	}
	sso := p.sso
	sso.RedirectURL = strings.TrimRight(p.publicURL, "/") + "/sso/answer"
	sso.Scopes = p.ssoScopes
	if sso.GroupRoles, err = parseGroupRoles(p.groupRoles); err != nil {
		return c, err
	}
	if p.ssoOthers != "" {
		var ok bool
		if sso.DefaultRoles, ok = auth.ParseRoles(p.ssoOthers); !ok {
			return c, fmt.Errorf("--oidc-default-roles: %q are no roles: use viewer, operator, ops and admin", p.ssoOthers)
		}
	}
	c.SSO = &sso
	return c, nil
}

func readRefused(path string) (list auth.RefusedPasswords, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--refused-passwords: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return auth.ReadRefusedPasswords(f)
}

// parseGroupRoles reads "finance=operator;it=ops+admin".
func parseGroupRoles(text string) (map[string][]work.Role, error) {
	groups := map[string][]work.Role{}
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' }) {
		group, names, _ := strings.Cut(pair, "=")
		roles, ok := auth.ParseRoles(strings.ReplaceAll(names, "+", ","))
		if group = strings.TrimSpace(group); group == "" || !ok {
			return nil, fmt.Errorf("--oidc-group-roles: %q does not say which roles a group has: write for example finance=operator;it=ops+admin", pair)
		}
		groups[group] = roles
	}
	return groups, nil
}

// ensureAdmin sees to it that somebody can sign in. If there is no user at all it adds the user admin with the password;
// without one it returns the code for the set-up page, where the first person adds themself.
func ensureAdmin(ctx context.Context, a *auth.Auth, password string) (setUpCode string, err error) {
	there, err := a.AnyUser(ctx)
	if err != nil || there || !a.Passwords() {
		return "", err
	}
	if password == "" {
		return a.SetUpCode(), nil
	}
	_, err = a.SetUp(ctx, adminName, "Admin", password, fromConsole)
	if err != nil && !errors.Is(err, auth.ErrSetUpDone) { // else another server was quicker
		return "", fmt.Errorf("the first admin cannot be added: %w", err)
	}
	return "", nil
}

// console is whoever may run sub-commands on the server: they have the database anyway.
var console = work.Actor{Kind: work.Console, ID: "console", Name: "console", Roles: []work.Role{work.Admin}}

var fromConsole = auth.Origin{Address: "console"}

// openAuth opens the accounts for a sub-command.
func (d *databaseFlags) openAuth(ctx context.Context) (*store.Store, *auth.Auth, error) {
	st, err := d.open(ctx, slog.Default())
	if err != nil {
		return nil, nil, err
	}
	a, err := auth.New(auth.Config{Store: st})
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return st, a, nil
}
