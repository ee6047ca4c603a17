package soak

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"onefold/internal/ledger/sandbox"
	"onefold/internal/store"
	"onefold/internal/work"
)

const (
	token  = "for-this-soak-only" // of servers that live as long as the soak
	steady = "node-a"             // the one that is never killed: its memory is watched
)

// onefold is one Onefold server.
type onefold struct {
	*process
	url     string
	metrics string
}

// build makes the server's binary from the module that this bench belongs to.
func build(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "onefold").Output()
	if err != nil {
		return "", fmt.Errorf("the soak is run in the folder bench: %w", err)
	}
	out := filepath.Join(dir, "onefold")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, "./cmd/server")
	cmd.Dir, cmd.Env = strings.TrimSpace(string(root)), append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the server does not build: %w\n%s", err, text)
	}
	return out, nil
}

func newOnefold(dir, binary, database, node string) (*onefold, error) {
	data := filepath.Join(dir, node)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return &onefold{url: "http://" + listen, metrics: "http://" + metrics + "/metrics", process: &process{name: node,
		log: filepath.Join(dir, node+".log"), path: binary, args: []string{"serve", "--database", database, "--data", data, "--listen", listen,
			"--metrics-listen", metrics, "--node", node}, env: []string{"ONEFOLD_ADMIN_PASSWORD=soak-only-password", "ONEFOLD_API_TOKEN=" + token}}}, nil
}

func (s *onefold) ready(ctx context.Context) error { return s.answering(ctx, s.url+"/healthz") }

// connect connects the books of a personality, with waits of seconds where a real system has minutes.
func connect(ctx context.Context, dir, binary, database, address string, p sandbox.Personality) error {
	cmd := exec.CommandContext(ctx, binary, "system", "add", "--database", database, "--id", string(p), "--adapter", "sandbox",
		"--address", address+"/"+string(p), "--set", fmt.Sprintf("personality=%s,search_lag=%s,linger=%s,misses=2", p, searchLag, linger),
		"--in-flight", "32", "--sends", "8", "--first-delay", "500ms", "--longest-delay", "5s", "--request-timeout", time.Second.String(),
		"--send-window", "500ms", "--settle", linger.String(), "--lookups", "40")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s could not be connected: %w\n%s", p, err, out)
	}
	return nil
}

// begin lets the automations begin, as an admin does on their page: nothing begins by itself on books that were never proven.
func begin(ctx context.Context, database string) error {
	st, err := store.Open(ctx, store.Config{URL: database, Node: "soak"})
	if err != nil {
		return err
	}
	defer st.Close()
	var books []string
	for _, p := range sandbox.Personalities {
		books = append(books, string(p))
	}
	for _, a := range automations {
		if err := st.AllowUnproven(ctx, 1, a, books, work.Actor{Kind: work.Console, ID: "soak", Name: "soak"}); err != nil {
			return err
		}
	}
	return nil
}
