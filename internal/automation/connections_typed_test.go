package automation_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/rest"
	"onefold/internal/ledger/rest/resttest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// A definition says where the login is. If that moves, the stored secret does not go there unseen: it must be entered again,
// for a test and a try-out too.
func TestSecretsDoNotFollowALoginThatMoved(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		b := newBureau(t, db)
		b.con.Adapters = []ledger.Adapter{rest.Adapter}
		fake := httptest.NewServer(resttest.NewZohoBooks(resttest.Options{Secret: goodToken}))
		t.Cleanup(fake.Close)
		taken := ""
		thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			taken += r.FormValue("refresh_token") + r.Header.Get("Authorization")
			http.NotFound(w, r)
		}))
		t.Cleanup(thief.Close)
		draft := func(login string) automation.Draft {
			return automation.Draft{Adapter: "rest", Name: "Zoho", Address: fake.URL, Secrets: map[string]string{}, Settings: map[string]string{"preset": "zoho-books",
				"values": "organization: " + resttest.Organization + "\r\nclient_id: 1000.ABC\r\naccounts: " + login}}
		}
		first := draft(fake.URL)
		first.Secrets = map[string]string{"refresh_token": goodToken, "client_secret": otherToken}
		id, tried, err := b.con.Add(t.Context(), boss, first)
		if err != nil || tried.Problem != automation.TryWorks {
			t.Fatalf("%+v %v", tried, err)
		}
		stored, err := b.store.System(t.Context(), id)
		if err != nil || !strings.Contains(stored.Settings["definition"], "name: Zoho Books") {
			t.Fatalf("the preset is not stored with the system: %v", err)
		}
		moved := draft(thief.URL)
		moved.Mark = b.mark(id)
		for what, do := range map[string]func() error{
			"change":  func() error { _, err := b.con.Change(t.Context(), boss, id, moved); return err },
			"test":    func() error { _, err := b.con.Try(t.Context(), boss, id, moved); return err },
			"try-out": func() error { _, err := b.con.TryOut(t.Context(), boss, id, moved, "INV-1"); return err },
		} {
			var bad automation.BadFields
			if err := do(); !errors.As(err, &bad) || !strings.Contains(bad["refresh_token"], "another place") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if taken != "" {
			t.Error("a secret went to the new place")
		}
	})
}

// What is typed is not relied on before a proof: neither lookups nor keys open the gate.
func TestTypedDefinitionIsNotReliedOnUnproven(t *testing.T) {
	if !rest.Adapter.Typed {
		t.Error("a definition counts without a proof")
	}
}

// Only admins try out, and only what can be tried out.
func TestTryOutIsRefusedToOthers(t *testing.T) {
	b := newBureau(t, storetest.SQLite(t))
	someone := work.Actor{Kind: work.Person, ID: "8", Name: "Olga", Roles: []work.Role{work.Operator}}
	if _, err := b.con.TryOut(t.Context(), someone, "", b.draft("Books", "search", goodToken), "INV-1"); !errors.Is(err, automation.ErrNotAdmin) {
		t.Errorf("%v", err)
	}
	if _, err := b.con.TryOut(t.Context(), boss, "", b.draft("Books", "search", goodToken), "INV-1"); !errors.Is(err, automation.ErrNoTryOut) {
		t.Errorf("%v", err)
	}
}

// Texts of many lines keep their lines; what cannot be stored or is too long is refused in its field.
func TestTextsOfManyLines(t *testing.T) {
	b := newBureau(t, storetest.SQLite(t))
	b.con.Adapters = []ledger.Adapter{rest.Adapter}
	for text, says := range map[string]string{"name: x\x00": "cannot be sent", "name: \xff": "cannot be sent", strings.Repeat("# long\n", 4000): "too long", "name: [": "line"} {
		d := automation.Draft{Adapter: "rest", Name: "Books", Address: b.url, Settings: map[string]string{"definition": text}, Secrets: map[string]string{}}
		_, err := b.con.Try(t.Context(), boss, "", d)
		var bad automation.BadFields
		if !errors.As(err, &bad) || !strings.Contains(bad["definition"], says) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
