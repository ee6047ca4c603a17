package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Connections is how accounting systems are connected: it makes their adapters, and it is the service with which admins
// add, change, test and remove them.
type Connections struct {
	Store       ConnectionStore
	Adapters    []ledger.Adapter
	Keys        Sealer
	Environment func(name string) string // secrets that are not stored; nil: none
	CompanyID   int64                    // 0: 1, the first company
	Now         func() time.Time         // this machine's clock; nil: time.Now
	Log         *slog.Logger             // nil: slog.Default
}

// ConnectionStore is what connections need from the database.
type ConnectionStore interface {
	AccountStore
	Systems(ctx context.Context) ([]work.System, error)
	// Credentials returns the sealed credentials of a system; empty: none are stored.
	Credentials(ctx context.Context, id string) (sealed string, err error)
	// Reseal replaces sealed credentials by the same ones under another key, if they are still what they were.
	Reseal(ctx context.Context, id, was, sealed string) error
	// SystemIDTaken reports whether a system has or had the id.
	SystemIDTaken(ctx context.Context, id string) (bool, error)
	// AddSystem adds a system with its sealed credentials, or returns ErrIDTaken.
	AddSystem(ctx context.Context, sys work.System, sealed string, by work.Actor) error
	// ChangeConnection changes how a system is reached.
	ChangeConnection(ctx context.Context, id string, c ConnectionChange) error
	// RemoveSystem removes a system that nothing depends on, else it returns an error that wraps ErrSystemUsed.
	RemoveSystem(ctx context.Context, id string, by work.Actor) error
}

// Sealer encrypts secrets for the database. What is sealed opens only for the same owner.
type Sealer interface {
	Seal(secret, owner string) (string, error)
	Open(sealed, owner string) (string, error)
	ByNewest(sealed string) bool
}

// ConnectionChange is a change of how a system is reached.
type ConnectionChange struct {
	Mark         string // of the connection that the person saw, see ConnectionMark; another one is ErrConnectionChanged
	By           work.Actor
	Name         string
	Address      string
	Settings     map[string]string
	Capabilities work.Capabilities
	Steps        []string
	Identity     string        // the books that it was seen to reach; empty: nothing about the connection changed
	Sealed       *string       // the credentials; nil: they stay
	Records      []SettingText // what goes on record, without secrets

	DropLogin bool   // the login of its account belongs to another connection: it is removed
	Problem   string // why it stands still until its account is connected; empty: nothing about that changes
}

// SettingText is one change of a setting as it goes on record.
type SettingText struct{ What, Before, After string }

// Errors of connections that people can do something about. Their texts are in the user's words.
var (
	ErrNotAdmin          = errors.New("only an admin may do this")
	ErrConnectionChanged = errors.New("somebody else changed this connection meanwhile: look at it again")
	ErrOtherBooks        = errors.New("these are other books than before")
	ErrSystemUsed        = errors.New("this accounting system is in use")
	ErrIDTaken           = errors.New("this id is taken")
	ErrUnknownSystem     = errors.New("there is no such accounting system")
)

// ConnectionMark names the connection of a system as it is set up. It is equal as long as nothing about it changed.
func ConnectionMark(s work.System) string {
	made, err := json.Marshal(struct {
		Name, Made string
	}{s.Name, madeFrom(s)})
	if err != nil {
		return ""
	}
	return shortHash(string(made))
}

// madeFrom is everything that the adapter of a system is made from; another text means: connect anew.
func madeFrom(s work.System) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %d %s", s.Adapter, s.Address, s.CredentialsVersion, ledger.Connection{System: s}.Timeout())
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		fmt.Fprintf(&b, " %q=%q", name, s.Settings[name])
	}
	return b.String()
}

func (c *Connections) adapter(name string) (ledger.Adapter, error) {
	var names []string
	for _, a := range c.Adapters {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return ledger.Adapter{}, fmt.Errorf("there is no adapter %q here, nor any other", name)
	}
	return ledger.Adapter{}, fmt.Errorf("there is no adapter %q; this version knows: %s", name, strings.Join(names, ", "))
}

// Connect makes the adapter of a system with its stored credentials. It makes no call to the outside. If an account must be
// connected first the error wraps ledger.ErrLoginRefused.
func (c *Connections) Connect(s work.System) (ledger.System, error) {
	a, err := c.adapter(s.Adapter)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	made, err := c.connection(ctx, a, s)
	if err != nil {
		return nil, err
	}
	return a.Connect(made)
}

// connection is what the adapter of a system is made from: its stored credentials, and its login if it has one.
func (c *Connections) connection(ctx context.Context, a ledger.Adapter, s work.System) (made ledger.Connection, err error) {
	secrets, err := c.secrets(ctx, s.ID)
	if err != nil {
		return made, err
	}
	made = ledger.Connection{System: s, Secrets: c.withEnvironment(a, s.ID, secrets)}
	if logsIn(a, s) {
		made.Tokens, err = c.tokens(ctx, s.ID)
	}
	return made, err
}

// tokens is the stored login of a system, if it can be used.
func (c *Connections) tokens(ctx context.Context, id string) (ledger.TokenStore, error) {
	k := &storedTokens{store: c.Store, keys: c.Keys, id: id, log: c.log()}
	switch l, _, err := k.read(ctx); {
	case err != nil:
		return nil, err
	case l.Sealed == "":
		return nil, errNotConnected
	}
	return k, nil
}

// Declared completes a system from its adapter: what it can do and which steps a document needs.
func (c *Connections) Declared(s work.System) (work.System, error) {
	a, err := c.adapter(s.Adapter)
	if err != nil {
		return s, err
	}
	sys, err := a.Connect(ledger.Connection{System: s, Secrets: c.withEnvironment(a, s.ID, nil)})
	if err != nil {
		return s, err
	}
	defer closeAdapter(sys)
	s.Capabilities, s.Steps, s.Typed = sys.Capabilities(), sys.Steps(), a.Typed
	return s, s.Validate()
}

// secrets are the stored credentials of a system, by field.
func (c *Connections) secrets(ctx context.Context, id string) (map[string]string, error) {
	if c.Store == nil {
		return nil, nil
	}
	sealed, err := c.Store.Credentials(ctx, id)
	if err != nil || sealed == "" {
		return nil, err
	}
	return c.open(sealed, systemOwner(id))
}

func (c *Connections) open(sealed, owner string) (map[string]string, error) {
	if c.Keys == nil {
		return nil, errors.New("the stored credentials cannot be opened: there is no key")
	}
	text, err := c.Keys.Open(sealed, owner)
	if err != nil {
		return nil, errors.New("the stored credentials cannot be opened: their key is not among this server's keys. Enter them again, or give the server its former key")
	}
	var secrets map[string]string
	if json.Unmarshal([]byte(text), &secrets) != nil {
		return nil, errors.New("the stored credentials are damaged: enter them again")
	}
	return secrets, nil
}

func (c *Connections) seal(secrets map[string]string, owner string) (string, error) {
	if len(secrets) == 0 {
		return "", nil
	}
	if c.Keys == nil {
		return "", errors.New("credentials cannot be stored: this server has no key to seal them with")
	}
	text, err := json.Marshal(secrets)
	if err != nil {
		return "", errors.New("the credentials cannot be stored")
	}
	return c.Keys.Seal(string(text), owner)
}

func systemOwner(id string) string { return "system:" + id }

// EnvironmentName is the variable that holds a system's secret if none is stored: ONEFOLD_SYSTEM_BOOKS_TOKEN.
func EnvironmentName(systemID, field string) string {
	clean := func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "_")) }
	return "ONEFOLD_SYSTEM_" + clean(systemID) + "_" + clean(field)
}

// withEnvironment adds the secrets that are not stored but given to this server.
func (c *Connections) withEnvironment(a ledger.Adapter, id string, stored map[string]string) map[string]string {
	secrets := maps.Clone(stored)
	if secrets == nil {
		secrets = map[string]string{}
	}
	for _, f := range a.Fields {
		if f.Secret && secrets[f.Name] == "" && c.Environment != nil {
			if v := c.Environment(EnvironmentName(id, f.Name)); v != "" {
				secrets[f.Name] = v
			}
		}
	}
	return secrets
}

// Reseal seals with the newest key what an older one sealed, so that the older one can be dropped. What cannot be opened
// is left as it is. It returns how many it sealed anew.
func (c *Connections) Reseal(ctx context.Context) (int, error) {
	systems, err := c.Store.Systems(ctx)
	if err != nil {
		return 0, err
	}
	done := 0
	for _, s := range systems {
		credentials, err := c.Store.Credentials(ctx, s.ID)
		if err != nil {
			return done, err
		}
		login, err := c.Store.SystemLogin(ctx, s.ID)
		if err != nil {
			return done, err
		}
		for _, one := range []struct {
			sealed, owner string
			store         func(ctx context.Context, id, was, sealed string) error
		}{{credentials, systemOwner(s.ID), c.Store.Reseal}, {login.Sealed, loginOwner(s.ID), c.Store.ResealLogin}} {
			if one.sealed == "" || c.Keys.ByNewest(one.sealed) {
				continue
			}
			text, err := c.Keys.Open(one.sealed, one.owner)
			if err != nil {
				c.log().Warn("the stored login of an accounting system cannot be opened: enter it again", "system", s.ID)
				continue
			}
			sealed, err := c.Keys.Seal(text, one.owner)
			if err != nil {
				return done, err
			}
			if err := one.store(ctx, s.ID, one.sealed, sealed); err != nil {
				return done, err
			}
			done++
		}
	}
	return done, nil
}

func (c *Connections) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

func (c *Connections) log() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return c.Log
}

// closeAdapter drops the idle connections of an adapter that has some.
func closeAdapter(sys ledger.System) {
	if closer, ok := sys.(interface{ Close() }); ok {
		closer.Close()
	}
}
