package ledger

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// readBody reads at most limit bytes, counted after unpacking. Cut says that there was more.
func readBody(resp *http.Response, limit int64) (body []byte, cut bool, err error) {
	var from io.Reader = resp.Body
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip": // not asked for, but some send it all the same
		packed, err := gzip.NewReader(resp.Body)
		if errors.Is(err, io.EOF) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		from = packed
	}
	body, err = io.ReadAll(io.LimitReader(from, limit+1))
	if int64(len(body)) > limit {
		return body[:limit], true, nil
	}
	return body, false, err
}

// cleanLocation is where a redirect points, without query and credentials, which may be secrets.
func cleanLocation(from *url.URL, location string) string {
	if location == "" {
		return ""
	}
	to, err := from.Parse(location)
	if err != nil {
		return "an unreadable address"
	}
	clean := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}
	return Short(clean.String(), 200)
}
