package work

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Caution is what an admin, after a proof, no longer relies on in one system. It can only take away: whatever it holds,
// the rules never become bolder than what the adapter declares. The zero Caution takes nothing away.
type Caution struct {
	NoKeys    bool          `json:"no_keys,omitempty"`    // repeats with the same key are not taken as recognised
	NoSearch  bool          `json:"no_search,omitempty"`  // a lookup proves nothing
	NotUnique bool          `json:"not_unique,omitempty"` // a second record with our reference is not refused
	Plain     bool          `json:"plain,omitempty"`      // references are made of [A-Z0-9-] only
	SearchLag time.Duration `json:"search_lag,omitempty"` // a new record may stay invisible at least so long
}

// With returns both cautions together.
func (k Caution) With(more Caution) Caution {
	return Caution{NoKeys: k.NoKeys || more.NoKeys, NoSearch: k.NoSearch || more.NoSearch, NotUnique: k.NotUnique || more.NotUnique,
		Plain: k.Plain || more.Plain, SearchLag: max(k.SearchLag, more.SearchLag)}
}

// Cautious returns the capabilities with the caution taken into account.
func (c Capabilities) Cautious(k Caution) Capabilities {
	if k.NoKeys {
		c.HonoursKeys, c.KeyLifetime = false, 0
	}
	if k.NoSearch {
		c.Searchable = false
	}
	c.UniqueReferences = c.UniqueReferences && !k.NotUnique
	c.PlainReference = c.PlainReference || k.Plain
	c.SearchLag = max(c.SearchLag, k.SearchLag)
	return c
}

// Seen is what a proof saw of a system. The zero Seen: nothing.
type Seen struct {
	On     string `json:"on,omitempty"`     // the connection that it was seen on, as System.Reached named it
	Keys   bool   `json:"keys,omitempty"`   // a second send with the same key made no second record
	Search bool   `json:"search,omitempty"` // a new record was found by our reference in time, one that never existed was not
}

// Reached names how the system is reached: another text after any change of its address, its settings or its credentials.
// Its name and its limits are no part of it.
func (s System) Reached() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d", s.Adapter, s.Address, s.CredentialsVersion)
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		fmt.Fprintf(h, " %q=%q", name, s.Settings[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// ReliedOn is what may be relied on in the system at this moment: what its adapter declares, without what an admin took
// away after a proof. Where an admin typed what the system can do, keys and lookups count only if a proof has seen them on
// this very connection.
func (s System) ReliedOn() Capabilities {
	k := s.Caution
	if s.Typed {
		seen := s.Seen
		if seen.On != s.Reached() {
			seen = Seen{}
		}
		k = k.With(Caution{NoKeys: !seen.Keys, NoSearch: !seen.Search})
	}
	return s.Capabilities.Cautious(k)
}
