package work_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// gateRules: sends settle after a minute, a call takes at most 35 s.
func gateRules() work.Rules {
	return work.Rules{Capabilities: work.Capabilities{Searchable: true}, Policy: work.Policy{Sends: 3, Lookups: 5, Misses: 1,
		Settle: time.Minute, RequestTimeout: 30 * time.Second, SendWindow: 5 * time.Second}}
}

func keyRules() work.Rules {
	r := gateRules()
	r.Capabilities = work.Capabilities{HonoursKeys: true, KeyLifetime: 24 * time.Hour}
	return r
}

// sentOnce was sent ten minutes ago and nobody knows what came of it.
func sentOnce() work.Item {
	return work.Item{Status: work.Pending, Attempts: 1, Sends: 1, SendsUsed: 1, Unsettled: []int{1},
		SettleFrom: noon.Add(-10 * time.Minute), FirstSentAt: noon.Add(-11 * time.Minute)}
}

func TestGate(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	type change func(*work.Item, *work.Rules)
	attested := func(it *work.Item, _ *work.Rules) { it.AbsentAt, it.AbsentBy = ago(time.Minute), "person:1 Anna" }
	looked := func(it *work.Item, _ *work.Rules) { it.AbsentAt, it.AbsentBy = ago(time.Minute), "lookup" }
	never := func(it *work.Item, _ *work.Rules) { *it = work.Item{Status: work.Queued} }
	refusedSoFar := func(it *work.Item, _ *work.Rules) { it.Unsettled = nil }
	byKey := func(_ *work.Item, r *work.Rules) { *r = keyRules() }
	handedOver := func(it *work.Item, _ *work.Rules) {
		it.Status, it.Reason, it.LastLook = work.Review, work.ReasonCannotLookUp, work.LastLookMissed
	}
	lookFirst := func(at time.Time) change { return func(_ *work.Item, r *work.Rules) { r.LookFirst = at } }
	for _, c := range []struct {
		name    string
		changes []change
		proof   work.Proof
		refused work.RefusalCode
		until   time.Time
	}{
		{"1 never sent", []change{never}, work.ProofNeverSent, "", time.Time{}},
		{"2 all settled", []change{refusedSoFar}, work.ProofSettled, "", time.Time{}},
		{"3 looked up", []change{looked}, work.ProofLookup, "", time.Time{}},
		{"4 key alive", []change{byKey}, work.ProofKey, "", time.Time{}},
		{"5 attested", []change{attested}, work.ProofAttested, "", time.Time{}},
		{"attested, though it was reported", []change{attested, func(it *work.Item, _ *work.Rules) { it.Positive = work.ReportedThere }}, work.ProofAttested, "", time.Time{}},
		{"look-first, looked since", []change{never, looked, lookFirst(ago(time.Hour))}, work.ProofLookup, "", time.Time{}},

		{"unknown", nil, "", work.RefusedUnknown, time.Time{}},
		{"a call is on its way", []change{never, func(it *work.Item, _ *work.Rules) { it.OpenAttempt = 1 }}, "", work.RefusedOpen, time.Time{}},
		{"previous step pending", []change{never, func(it *work.Item, _ *work.Rules) { it.PreviousID, it.PreviousStatus = 7, work.Pending }}, "", work.RefusedPrevious, time.Time{}},
		{"previous step closed", []change{never, func(it *work.Item, _ *work.Rules) { it.PreviousID, it.PreviousStatus = 7, work.Closed }}, "", work.RefusedPrevious, time.Time{}},
		{"found, and looked since", []change{looked, func(it *work.Item, _ *work.Rules) { it.Positive = work.RecordWasFound }}, "", work.RefusedFound, time.Time{}},
		{"found, and attested", []change{attested, func(it *work.Item, _ *work.Rules) { it.Positive = work.RecordWasFound }}, "", work.RefusedFound, time.Time{}},
		{"late id", []change{attested, func(it *work.Item, _ *work.Rules) { it.LateID = "R1" }}, "", work.RefusedFound, time.Time{}},
		{"reported, and looked since", []change{looked, func(it *work.Item, _ *work.Rules) { it.Positive = work.ReportedThere }}, "", work.RefusedReported, time.Time{}},
		{"reported, key alive", []change{byKey, func(it *work.Item, _ *work.Rules) { it.Positive = work.ReportedThere }}, "", work.RefusedReported, time.Time{}},
		{"the lookup is older than a proof lasts", []change{func(it *work.Item, _ *work.Rules) {
			it.SettleFrom, it.AbsentAt, it.AbsentBy = ago(time.Hour), ago(work.ProofLife+1), "lookup"
		}}, "", work.RefusedUnknown, time.Time{}},
		{"the lookup is just not too old", []change{func(it *work.Item, _ *work.Rules) {
			it.SettleFrom, it.AbsentAt, it.AbsentBy = ago(time.Hour), ago(work.ProofLife), "lookup"
		}}, work.ProofLookup, "", time.Time{}},
		{"looked before the send had settled", []change{func(it *work.Item, _ *work.Rules) {
			it.AbsentAt, it.AbsentBy = it.SettleFrom.Add(time.Minute-1), "lookup"
		}}, "", work.RefusedUnknown, time.Time{}},
		{"attested before the send had settled", []change{func(it *work.Item, _ *work.Rules) {
			it.AbsentAt, it.AbsentBy = it.SettleFrom.Add(time.Minute-1), "person:1 Anna"
		}}, "", work.RefusedUnknown, time.Time{}},
		{"the settle time was raised since", []change{looked, func(_ *work.Item, r *work.Rules) { r.Policy.Settle = time.Hour }}, "", work.RefusedUnknown, time.Time{}},
		{"look-first, never sent", []change{never, lookFirst(ago(time.Hour))}, "", work.RefusedLookFirst, time.Time{}},
		{"look-first, all settled", []change{refusedSoFar, lookFirst(ago(time.Hour))}, "", work.RefusedLookFirst, time.Time{}},
		{"look-first, key alive", []change{byKey, lookFirst(ago(time.Hour))}, "", work.RefusedLookFirst, time.Time{}},
		{"look-first began after the lookup", []change{never, looked, lookFirst(ago(30 * time.Second))}, "", work.RefusedLookFirst, time.Time{}},
		{"look-first, what was claimed before it is not over", []change{never, looked, lookFirst(ago(2 * time.Minute))}, "", work.RefusedLookFirst, time.Time{}},
		{"the lookup is of a clock that went back", []change{func(it *work.Item, _ *work.Rules) { it.AbsentAt, it.AbsentBy = noon.Add(1), "lookup" }}, "", work.RefusedUnknown, time.Time{}},
		{"the attestation is of a clock that went back", []change{func(it *work.Item, _ *work.Rules) { it.AbsentAt, it.AbsentBy = noon.Add(1), "person:1 Anna" }}, "", work.RefusedUnknown, time.Time{}},
		{"never looked for, never sent", []change{never, handedOver}, "", work.RefusedUnsearched, time.Time{}},
		{"never looked for, all settled", []change{refusedSoFar, handedOver}, "", work.RefusedUnsearched, time.Time{}},
		{"never looked for, key alive", []change{byKey, handedOver}, "", work.RefusedUnsearched, time.Time{}},
		{"never looked for, attested", []change{never, handedOver, attested}, work.ProofAttested, "", time.Time{}},
		{"never looked for, looked up since", []change{never, handedOver, looked}, work.ProofLookup, "", time.Time{}},
		{"key, still settling", []change{byKey, func(it *work.Item, _ *work.Rules) { it.SettleFrom = ago(10 * time.Second) }}, "", work.RefusedSettling, noon.Add(50 * time.Second)},
		{"key expired", []change{byKey, func(it *work.Item, _ *work.Rules) { it.FirstSentAt = ago(24 * time.Hour) }}, "", work.RefusedKeyExpired, time.Time{}},
		{"key expires before the request is through", []change{byKey, func(it *work.Item, r *work.Rules) {
			expiry, _ := r.KeyExpiry(it.FirstSentAt)
			it.FirstSentAt = it.FirstSentAt.Add(-expiry.Sub(noon) + 35*time.Second + time.Minute - 1)
		}}, "", work.RefusedKeyExpired, time.Time{}},
		{"key outlives the request", []change{byKey, func(it *work.Item, r *work.Rules) {
			expiry, _ := r.KeyExpiry(it.FirstSentAt)
			it.FirstSentAt = it.FirstSentAt.Add(-expiry.Sub(noon) + 35*time.Second + time.Minute)
		}}, work.ProofKey, "", time.Time{}},
		{"key of a new revision, an older one is unknown", []change{byKey, func(it *work.Item, _ *work.Rules) { it.Revision, it.FirstSentAt = 2, time.Time{} }}, "", work.RefusedUnknown, time.Time{}},
		{"keys never open the gate of a system that can be searched", []change{byKey, func(_ *work.Item, r *work.Rules) { r.Capabilities.Searchable = true }}, "", work.RefusedUnknown, time.Time{}},
		{"blind", []change{func(_ *work.Item, r *work.Rules) { r.Capabilities = work.Capabilities{} }}, "", work.RefusedUnknown, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			it, r := sentOnce(), gateRules()
			for _, change := range c.changes {
				change(&it, &r)
			}
			proof, err := work.Gate(it, r, noon)
			var refusal *work.Refusal
			if c.refused == "" {
				if err != nil || proof != c.proof {
					t.Fatalf("got %q, %v; want %q", proof, err, c.proof)
				}
				return
			}
			if !errors.As(err, &refusal) || refusal.Code != c.refused || proof != "" || !refusal.Until.Equal(c.until) {
				t.Fatalf("got %q, %v; want refused: %s until %s", proof, err, c.refused, c.until)
			}
		})
	}
}

// TestAnOpenGateHasAProof states the five proofs a second time, from the design, and compares on random items.
func TestAnOpenGateHasAProof(t *testing.T) {
	opened := map[work.Proof]int{}
	checkMany(t, 20000, 1, func(t *rapid.T) {
		it, r := randomItem(t), randomRules(t)
		proof, err := work.Gate(it, r, noon)
		if err == nil {
			opened[proof]++
		}
		if holds := provenBy(it, r, noon); holds[proof] == (err != nil) || err != nil && len(holds) > 0 {
			t.Fatalf("gate: %q, %v; by the design: %v\n%+v\n%+v", proof, err, holds, it, r)
		}
	})
	if len(opened) < 5 && !t.Failed() {
		t.Errorf("the random items open the gate only by %v", opened)
	}
}

// provenBy lists the proofs of the design that hold, or none if something forbids a send.
func provenBy(it work.Item, r work.Rules, now time.Time) map[work.Proof]bool {
	holds := map[work.Proof]bool{}
	previousMissing := it.PreviousID != 0 && it.PreviousStatus != work.Confirmed && it.PreviousStatus != work.Resolved
	if it.OpenAttempt > 0 || previousMissing || it.Positive == work.RecordWasFound || it.LateID != "" {
		return holds
	}
	calm := now.AddDate(-10, 0, 0) // the moment from which nothing can be at work any more
	if len(it.Unsettled) > 0 {
		calm = later(calm, it.SettleFrom.Add(r.Settle()))
	}
	looking := !r.LookFirst.IsZero()
	if looking {
		calm = later(calm, r.LookFirst.Add(r.Lease()+r.Settle()))
	}
	fresh := !it.AbsentAt.IsZero() && !now.Before(it.AbsentAt) && now.Before(it.AbsentAt.Add(15*time.Minute+1)) && !calm.After(it.AbsentAt)
	reported := it.Positive == work.ReportedThere
	settled := it.Status == work.Confirmed || it.Status == work.Resolved || it.Status == work.Closed
	unseen := it.LastLook == work.LastLookMissed && !settled // look-first handed it to a person
	switch {
	case fresh && it.AbsentBy == "lookup" && !reported:
		holds[work.ProofLookup] = true
	case fresh && it.AbsentBy != "lookup":
		holds[work.ProofAttested] = true
	case reported || looking || unseen:
	case it.Sends == 0:
		holds[work.ProofNeverSent] = true
	case len(it.Unsettled) == 0:
		holds[work.ProofSettled] = true
	case !r.Capabilities.Searchable && r.Capabilities.HonoursKeys && !it.FirstSentAt.IsZero() && !calm.After(now):
		life := r.Capabilities.KeyLifetime
		through := now.Add(r.Policy.SendWindow + r.Policy.RequestTimeout + r.Settle())
		if life == 0 || !through.After(it.FirstSentAt.Add(life-max(life/10, min(30*time.Second, life/2)))) {
			holds[work.ProofKey] = true
		}
	}
	return holds
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// moment is none, or a time around now where something changes.
func moment(t *rapid.T, name string) time.Time {
	back := rapid.SampledFrom([]time.Duration{-1, 0, time.Second, 30 * time.Second, time.Minute, 97 * time.Second, 2 * time.Minute, 15 * time.Minute, 15*time.Minute + 1, time.Hour}).Draw(t, name)
	if back < 0 {
		return time.Time{}
	}
	return noon.Add(-back)
}

func randomItem(t *rapid.T) work.Item {
	it := work.Item{Status: rapid.SampledFrom(work.Statuses).Draw(t, "status"), Revision: 1}
	it.Sends = rapid.IntRange(0, 2).Draw(t, "sends")
	if it.Sends > 0 && rapid.Bool().Draw(t, "unsettled") {
		it.Unsettled, it.SettleFrom = []int{1}, later(moment(t, "settle from"), noon.Add(-2*time.Hour))
	}
	it.FirstSentAt = moment(t, "first sent")
	it.AbsentAt = moment(t, "absent at")
	if rapid.IntRange(0, 5).Draw(t, "clock went back") == 0 {
		it.AbsentAt = noon.Add(rapid.SampledFrom([]time.Duration{1, time.Minute, time.Hour}).Draw(t, "absent later"))
	}
	it.LastLook = rapid.SampledFrom([]work.LastLook{work.NoLastLook, work.NoLastLook, work.LastLookMissed}).Draw(t, "last look")
	if !it.AbsentAt.IsZero() {
		it.AbsentBy = rapid.SampledFrom([]string{"lookup", "person:1 Anna"}).Draw(t, "absent by")
	}
	it.Positive = rapid.SampledFrom([]work.Positive{work.NoEvidence, work.NoEvidence, work.ReportedThere, work.RecordWasFound}).Draw(t, "positive")
	if rapid.IntRange(0, 5).Draw(t, "late") == 0 {
		it.LateID = "R1"
	}
	if rapid.IntRange(0, 5).Draw(t, "open") == 0 {
		it.OpenAttempt = 1
	}
	if rapid.Bool().Draw(t, "second step") {
		it.PreviousID, it.PreviousStatus = 7, rapid.SampledFrom(work.Statuses).Draw(t, "previous")
	}
	return it
}

func randomRules(t *rapid.T) work.Rules {
	r := gateRules()
	r.Capabilities = work.Capabilities{Searchable: rapid.Bool().Draw(t, "searchable"), HonoursKeys: rapid.Bool().Draw(t, "keys"),
		KeyLifetime: rapid.SampledFrom([]time.Duration{0, 4 * time.Minute, time.Hour}).Draw(t, "key lifetime"),
		Linger:      rapid.SampledFrom([]time.Duration{0, 97 * time.Second}).Draw(t, "linger")}
	r.LookFirst = moment(t, "look first")
	return r
}
