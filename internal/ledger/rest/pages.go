package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/itchyny/gojq"

	"onefold/internal/ledger"
)

// next says how the search goes on: with another call, or with another .page, which it puts into the answer's document.
func (l *look) next(call ledger.Call, answer document) (next ledger.Call, page string, last bool, err error) {
	s := l.def.search
	if s.single {
		return next, "", true, nil
	}
	if s.link != nil {
		v, err := s.link.value(answer)
		l.saw(s.link, v, err)
		if err != nil || v == nil {
			return next, "", true, err
		}
		address, ok := v.(string)
		if !ok {
			return next, "", false, s.link.wrong("it must be an address or null, not %s", gojq.TypeOf(v))
		}
		next, err = l.linked(call, address)
		return next, address, false, err
	}
	last, err = s.last.truth(answer)
	l.saw(s.last, last, err)
	if err != nil || last {
		return next, "", last, err
	}
	v, err := s.next.value(answer)
	l.saw(s.next, v, err)
	if err != nil {
		return next, "", false, err
	}
	switch v.(type) {
	case string, int, json.Number:
	default:
		return next, "", false, s.next.wrong("it must be a text or a whole number, not %s", gojq.TypeOf(v))
	}
	answer.input.(map[string]any)["page"] = v
	return next, fmt.Sprint(v), false, nil
}

// linked is the call of the next page. It must stay below the system's address: the credentials travel with it.
func (l *look) linked(call ledger.Call, address string) (ledger.Call, error) {
	s := l.def.search
	base := l.base
	here, err := url.Parse(base + call.Path)
	if err != nil {
		return call, s.link.wrong("it is no address")
	}
	to, err := here.Parse(address)
	if err != nil || to.User != nil || !strings.EqualFold(to.Scheme, here.Scheme) || !strings.EqualFold(to.Host, here.Host) {
		return call, s.link.wrong("it leads to another place than the system's address")
	}
	root, err := url.Parse(base)
	if err != nil {
		return call, s.link.wrong("it is no address")
	}
	path, below := strings.CutPrefix(to.EscapedPath(), root.EscapedPath())
	if !below || path != "" && path[0] != '/' || strings.Contains(path, "/../") || strings.HasSuffix(path, "/..") {
		return call, s.link.wrong("it leads to another place than the system's address")
	}
	query, err := url.ParseQuery(to.RawQuery)
	if err != nil {
		return call, s.link.wrong("its query cannot be read")
	}
	return ledger.Call{Method: http.MethodGet, Path: path, Query: query, Header: call.Header}, nil
}
