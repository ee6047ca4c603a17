package stripetest

import (
	"maps"
	"net/url"
	"slices"
)

// Invoices are all that were ever made, deleted ones included, oldest first.
func (f *Fake) Invoices() (all []Invoice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tick()
	for _, v := range f.invoices {
		held := *v
		held.Metadata, held.Lines = maps.Clone(v.Metadata), slices.Clone(v.Lines)
		all = append(all, held)
	}
	return all
}

// Asked are the queries of all lists.
func (f *Fake) Asked() []url.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// Searches counts the uses of the search that lags.
func (f *Fake) Searches() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.searches
}

// Bodies are the writing requests as they came.
func (f *Fake) Bodies() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.bodies)
}

// ByHand lets somebody at Stripe's dashboard do something to an invoice.
func (f *Fake) ByHand(id string, do func(*Invoice)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.invoices {
		if v.ID == id {
			do(v)
		}
	}
}

// Put adds an invoice that somebody else made.
func (f *Fake) Put(v Invoice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.Created.IsZero() {
		v.Created = f.now()
	}
	if v.Metadata == nil {
		v.Metadata = map[string]string{}
	}
	f.invoices = append(f.invoices, &v)
}
