package main

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/work"
)

func testAuth(t *testing.T, path string) *auth.Auth {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{URL: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	a, err := auth.New(auth.Config{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestUserCommand(t *testing.T) {
	db := filepath.Join(t.TempDir(), "onefold.db")
	do := func(args ...string) string {
		t.Helper()
		out, err := command(t, append([]string{"user"}, append(args, "--database", db)...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := do("add", "ada@example.com", "--name", "Ada Brown", "--role", "admin,operator", "--public-url", "https://onefold.example/")
	token := regexp.MustCompile(`(?m)^https://onefold\.example/welcome/(\S+)$`).FindStringSubmatch(out)
	if token == nil {
		t.Fatal(out)
	}
	a := testAuth(t, db)
	u, err := a.UseLink(t.Context(), token[1], "seven quiet herons", auth.Origin{})
	if err != nil || !u.CanAdminister() {
		t.Fatalf("%+v %v", u, err)
	}
	do("add", "ben", "--role", "viewer", "--password", "nine loud ganders")
	do("roles", "BEN", "ops,viewer")
	do("disable", "ben")
	if list := do("list"); !strings.Contains(list, "viewer,ops") || !strings.Contains(list, "disabled") || !strings.Contains(list, "Ada Brown") || strings.Contains(list, "argon2") {
		t.Error(list)
	}
	do("enable", "ben")
	if out := do("link", "ben"); !strings.Contains(out, "/welcome/") {
		t.Error(out)
	}
	for want, args := range map[string][]string{
		"no roles":   {"add", "x", "--role", "root"},
		"taken":      {"add", "Ben"},
		"at least":   {"add", "x", "--password", "short"},
		"not found":  {"link", "nobody"},
		"last admin": {"roles", "ada@example.com", "viewer"},
	} {
		if _, err := command(t, append([]string{"user"}, append(args, "--database", db)...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
	page, err := a.AuditPage(t.Context(), console, auth.AuditFilter{What: []string{auth.DidChangeRoles}})
	if err != nil || len(page.Records) != 1 || page.Records[0].By.Kind != work.Console {
		t.Errorf("%+v %v", page.Records, err)
	}
}

func TestTokenCommand(t *testing.T) {
	db := filepath.Join(t.TempDir(), "onefold.db")
	do := func(args ...string) string {
		t.Helper()
		out, err := command(t, append([]string{"token"}, append(args, "--database", db)...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := do("add", "shop", "--scope", "items:write", "--days", "30")
	secret := regexp.MustCompile(`(?m)^of_[a-z2-7]{40}$`).FindString(out)
	if secret == "" {
		t.Fatal(out)
	}
	if list := do("list"); !strings.Contains(list, "works") || !strings.Contains(list, secret[:9]+"…") || strings.Contains(list, secret[:12]) {
		t.Error(list)
	}
	do("revoke", "1")
	if list := do("list"); !strings.Contains(list, "revoked") {
		t.Error(list)
	}
	for want, args := range map[string][]string{
		"scope": {"add", "x", "--scope", "all"}, "two years": {"add", "x", "--days", "900"}, "no token": {"revoke", "x"}, "not found": {"revoke", "7"},
	} {
		if _, err := command(t, append([]string{"token"}, append(args, "--database", db)...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// The first admin is added once; a later start changes nothing, whatever password it is given.
func TestEnsureAdmin(t *testing.T) {
	a := testAuth(t, filepath.Join(t.TempDir(), "onefold.db"))
	if _, err := ensureAdmin(t.Context(), a, "short"); err == nil {
		t.Error("a short password is accepted")
	}
	code, err := ensureAdmin(t.Context(), a, "")
	if there, _ := a.AnyUser(t.Context()); err != nil || there || !a.CheckSetUpCode(code) {
		t.Fatalf("without a password: %q %v", code, err)
	}
	if code, err := ensureAdmin(t.Context(), a, "seven quiet herons"); err != nil || code != "" {
		t.Fatalf("%q %v", code, err)
	}
	before, err := a.UserByLogin(t.Context(), console, adminName)
	if err != nil || !before.CanAdminister() {
		t.Fatalf("%+v %v", before, err)
	}
	for _, password := range []string{"nine loud ganders", ""} {
		if code, err := ensureAdmin(t.Context(), a, password); err != nil || code != "" {
			t.Fatalf("again: %q %v", code, err)
		}
	}
	if after, err := a.UserByLogin(t.Context(), console, adminName); err != nil || after.PasswordHash != before.PasswordHash {
		t.Error("the password was changed")
	}
}

func TestPeopleFlags(t *testing.T) {
	groups, err := parseGroupRoles("finance=operator; it=ops+admin")
	if err != nil || len(groups) != 2 || !slices.Equal(groups["it"], []work.Role{work.Ops, work.Admin}) {
		t.Errorf("%v %v", groups, err)
	}
	data, log := t.TempDir(), slog.New(slog.DiscardHandler)
	base := peopleFlags{passwords: true, publicURL: "https://onefold.example/"}
	base.sso.Issuer, base.sso.ClientID = "https://login.example", "onefold"
	for want, spoil := range map[string]func(*peopleFlags){
		"at least 32":          func(p *peopleFlags) { p.sessionKeys = "short" },
		"--public-url":         func(p *peopleFlags) { p.publicURL = "" },
		"--oidc-group-roles":   func(p *peopleFlags) { p.groupRoles = "finance" },
		"--oidc-default-roles": func(p *peopleFlags) { p.ssoOthers = "root" },
		"--refused-passwords":  func(p *peopleFlags) { p.refusedList = filepath.Join(data, "nothing") },
	} {
		p := base
		spoil(&p)
		if _, err := p.config(data, log); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	base.refusedList = filepath.Join(data, "breached.txt")
	if err := os.WriteFile(base.refusedList, []byte("my breached lamp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := base.config(data, log)
	if !c.RefusedPasswords.Has("my breached lamp") {
		t.Error("the list of refused passwords is not read")
	}
	if err != nil || c.SSO.RedirectURL != "https://onefold.example/sso/answer" {
		t.Fatalf("%+v %v", c.SSO, err)
	}
	again, err := base.config(data, log)
	if err != nil || c.Keys[0] != again.Keys[0] {
		t.Error("a restart has other keys")
	}
	base.sessionKeys = strings.Repeat("k", 32)
	if given, err := base.config(filepath.Join(data, "none"), log); err != nil || given.Keys[0] == c.Keys[0] {
		t.Errorf("given keys do not count: %v", err)
	}
}

func TestTrustedProxies(t *testing.T) {
	got, err := parseProxies("10.0.0.7, 192.168.3.9/24,2001:db8::/32")
	if want := []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32"), netip.MustParsePrefix("192.168.3.0/24"), netip.MustParsePrefix("2001:db8::/32")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	for _, bad := range []string{"proxy.example", "0.0.0.0/0", "::/0", "10.0.0.0/33"} {
		if list, err := parseProxies(bad); err == nil {
			t.Errorf("%q is taken: %v", bad, list)
		}
	}
}
