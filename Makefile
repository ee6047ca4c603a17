# Onefold. `make help` lists what there is.

.DEFAULT_GOAL := help

# Tests, checks and the shipped binary compile alike, so that a cold machine compiles once.
export CGO_ENABLED := 0

.PHONY: help run demo build test check bench torture generate packages

# Where the server keeps its data when it is started from here.
DATA ?= data
# The long crash run: how many kills and items.
KILLS ?= 200
ITEMS ?= 20000

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start the server on SQLite in ./data
	mkdir -p $(DATA)
	go run ./cmd/server serve --data $(DATA)

demo: ## a month end against an accounting system that misbehaves
	go run ./cmd/server demo

build: ## the server as one static binary, in bin/onefold
	go build -trimpath -o bin/onefold ./cmd/server

test: packages ## all tests, with a PostgreSQL server and a Tryton of their own
	@scripts/test-all

check: bin/golangci-lint bin/templ bin/govulncheck ## what the tests do not see: format, linters, import rules, freshness
	scripts/check

bench: packages ## this engine and its peers in one run on one PostgreSQL server; ARGS=-json for machines
	ONEFOLD_POSTGRES_OPTIONS="-c shared_buffers=512MB -c max_wal_size=4GB" scripts/with-postgres go run -C bench . $(ARGS)

torture: packages ## the long crash run: real servers, real kills; KILLS=200 ITEMS=20000
	ONEFOLD_REQUIRE_POSTGRES=1 scripts/with-postgres \
		go test ./internal/crash -count=1 -timeout 60m -v -run TestTorture -torture -kills=$(KILLS) -items=$(ITEMS)

generate: bin/templ ## pages from their templates, docs/state-machine.md from the code
	bin/templ generate
	go generate ./...

packages:
	@scripts/install-packages

# Tools are pinned in a module of their own; see docs/decisions/0008-tools-module.md.
bin/golangci-lint: tools/go.mod tools/go.sum
	go build -C tools -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bin/templ: tools/go.mod tools/go.sum
	go build -C tools -o ../$@ github.com/a-h/templ/cmd/templ

bin/govulncheck: tools/go.mod tools/go.sum
	go build -C tools -o ../$@ golang.org/x/vuln/cmd/govulncheck
