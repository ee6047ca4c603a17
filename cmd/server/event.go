package main

import (
	"onefold/internal/automation/outcome"
	"onefold/internal/seal"
	"onefold/internal/store"
)

// outcomeLoop is the loop that tells others what became of their items, and what wakes it.
func outcomeLoop(st *store.Store, o serverOptions, keys seal.Keys, tried func(result string)) (*outcome.Loop, func()) {
	wake := make(chan struct{}, 1)
	return outcome.NewLoop(outcome.Config{Store: st, Keys: keys, Hosts: o.outcomeHosts, Node: o.node, Wake: wake, Log: o.log, Tried: tried}), func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}
