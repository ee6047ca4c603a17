package main

import (
	"net"
	"testing"
)

func TestTheAddressThatIsPrintedCanBeOpened(t *testing.T) {
	for _, c := range []struct{ ip, public, want string }{
		{"127.0.0.1", "", "http://127.0.0.1:8080"},
		{"::", "", "http://localhost:8080"}, // in a container
		{"0.0.0.0", "", "http://localhost:8080"},
		{"::", "https://onefold.example.com/", "https://onefold.example.com"},
	} {
		if got := toOpen(&net.TCPAddr{IP: net.ParseIP(c.ip), Port: 8080}, c.public); got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.ip, c.public, got, c.want)
		}
	}
}
