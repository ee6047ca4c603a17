package work

import "time"

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

// Seen is what a proof saw on the connection as it is set up now. The zero Seen: nothing was proven on it.
type Seen struct {
	Keys   bool `json:"keys,omitempty"`   // a second send with the same key made no second record
	Search bool `json:"search,omitempty"` // a new record was found by our reference, one that never existed was not
}

// ReliedOn is what may be relied on in the system at this moment: what its adapter declares, without what an admin took
// away after a proof. Where an admin typed what the system can do, keys and lookups count only if a proof has seen them on
// this very connection.
func (s System) ReliedOn() Capabilities {
	k := s.Caution
	if s.Typed {
		k = k.With(Caution{NoKeys: !s.Seen.Keys, NoSearch: !s.Seen.Search})
	}
	return s.Capabilities.Cautious(k)
}
