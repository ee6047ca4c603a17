package auth_test

import (
	"errors"
	"strings"
	"testing"

	"onefold/internal/auth"
	"onefold/internal/work"
)

func TestRefusedPasswords(t *testing.T) {
	list, err := auth.ReadRefusedPasswords(strings.NewReader("short\nmy breached lamp\r\nseven Tired geese\n\n" + strings.Repeat("x", 2000) + "\nthe last one has no end"))
	must(t, err)
	if len(list) != 3 {
		t.Errorf("%d passwords are on the list", len(list))
	}
	each(t, auth.Config{RefusedPasswords: list}, func(t *testing.T, w *world) {
		for i, given := range []string{"my breached lamp", "MY BREACHED LAMP", "seven tired geese", "the last one has no end", "my breached lamp ", "seven quiet herons"} {
			_, err := w.AddUser(t.Context(), boss, office, auth.NewUser{Login: "u" + string(rune('a'+i)), Roles: []work.Role{work.Viewer}}, given, false)
			var weak *auth.WeakPassword
			if refused := errors.As(err, &weak); refused != (i < 4) || refused && weak.Why != auth.PasswordCommon || !refused && err != nil {
				t.Errorf("%q: %v", given, err)
			}
		}
	})
	if _, err := auth.ReadRefusedPasswords(strings.NewReader(strings.Repeat("x", 2<<20))); err == nil {
		t.Error("a file that is no list is read")
	}
	if (auth.RefusedPasswords)(nil).Has("seven quiet herons") {
		t.Error("no list refuses something")
	}
}
