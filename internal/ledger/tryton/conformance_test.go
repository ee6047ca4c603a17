package tryton_test

import (
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/tryton"
	"onefold/internal/ledger/tryton/trytontest"
	"onefold/internal/work"
)

// cannot are the faults that no Tryton has, nor anything before it can make it have.
var cannot = map[ledgertest.Fault]string{
	"reject_final":       "no refusal of Tryton says that it is for good",
	"duplicate_error":    "references need not be unique in Tryton",
	"deleted":            "a deleted invoice is in no search of Tryton",
	"search_broken_page": "a search of Tryton has one page",
}

// noID: Tryton answers a post with nothing (null), so there is no id in it that could be wrong.
const noID = "the answer to a post holds no id"

var withoutIDs = map[string]string{"post/Trial90_ZeroID": noID, "post/Trial90_NullID": noID, "post/Trial90_EmptyID": noID, "post/Trial90_NumberForAnID": noID}

func TestConformance(t *testing.T) {
	ledgertest.Run(t, ledgertest.Target{
		Lists:      true,
		ReadsFirst: true,
		Invoice:    func(v *work.Invoice) { v.CustomerID = trytontest.Customer },
		Impossible: withoutIDs,
		Cannot:     cannot,
		New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
			fake := trytontest.NewFake()
			front := ledgertest.Serve(t, fake)
			return connect(t, front.URL(), s), front
		},
	})
}

// connect connects in the way that the server does.
func connect(t *testing.T, address string, s ledgertest.Setup, change ...func(*ledger.Connection)) *tryton.Client {
	t.Helper()
	c := ledger.Connection{
		System: work.System{ID: "books", Adapter: tryton.Adapter.Name, Address: address, Policy: work.Policy{RequestTimeout: s.Timeout}, Settings: map[string]string{
			"database": trytontest.Database, "user": trytontest.User, "revenue": trytontest.Revenue}},
		Secrets: map[string]string{"password": trytontest.Password},
		Now:     s.Now,
		MaxBody: s.MaxBody,
	}
	for _, f := range change {
		f(&c)
	}
	sys, err := tryton.Adapter.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	client, ok := sys.(*tryton.Client)
	if !ok {
		t.Fatalf("connected to a %T", sys)
	}
	t.Cleanup(client.Close)
	return client
}

// soon is long enough for a healthy call.
const soon = 20 * time.Second
