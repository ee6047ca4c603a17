//go:build unix

package crash

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ownServer is a PostgreSQL server that belongs to one test, so that the test may stop it. The servers under test come as
// an ordinary role, not as a superuser.
type ownServer struct {
	t    *testing.T
	dir  string
	port int
}

const (
	roleName  = "onefold"
	adminName = "postgres"
	// An address on the loopback of a throw-away server, for the length of a test.
	rolePassword = "for-this-test-only"
)

// pgBin is the folder of PostgreSQL's programs; empty if there are none.
var pgBin = sync.OnceValue(func() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) > 0 {
		return found[len(found)-1]
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
})

// newOwnServer makes an empty server and starts it with settings such as "max_connections=20".
func newOwnServer(t *testing.T, settings ...string) *ownServer {
	t.Helper()
	s := emptyServer(t)
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(rolePassword), 0o600); err != nil {
		t.Fatal(err)
	}
	s.own(secret)
	s.run("initdb", "-D", s.data(), "--username="+adminName, "--pwfile="+secret, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	s.start(settings...)
	admin := s.admin()
	for _, text := range []string{"CREATE ROLE " + roleName + " LOGIN PASSWORD '" + rolePassword + "'", "CREATE DATABASE " + roleName + " OWNER " + roleName} {
		if _, err := admin.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func emptyServer(t *testing.T) *ownServer {
	t.Helper()
	if pgBin() == "" {
		if os.Getenv("ONEFOLD_REQUIRE_POSTGRES") != "" {
			t.Fatal("PostgreSQL's programs are not installed")
		}
		t.Skip("PostgreSQL's programs are not installed: run scripts/install-packages")
	}
	dir, err := os.MkdirTemp("", "onefold-own-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	s := &ownServer{t: t, dir: dir, port: freePort(t)}
	s.own(dir)
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(s.data(), "postmaster.pid")); err == nil {
			s.stop("immediate")
		}
		os.RemoveAll(dir) //nolint:errcheck,gosec // on the way out
	})
	return s
}

func (s *ownServer) data() string { return filepath.Join(s.dir, "data") }

// own gives a file to PostgreSQL's user: its programs refuse to run as root.
func (s *ownServer) own(path string) {
	if who := pgUser(); who != nil {
		if err := os.Chown(path, int(who.Uid), int(who.Gid)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// pgUser is who PostgreSQL's programs run as; nil: as we do.
var pgUser = sync.OnceValue(func() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
})

// run runs one of PostgreSQL's programs to its end.
func (s *ownServer) run(program string, args ...string) {
	s.t.Helper()
	// To a file: a server that is started would hold a pipe open.
	log, err := os.OpenFile(filepath.Join(s.dir, program+".log"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // read below
	cmd := exec.Command(filepath.Join(pgBin(), program), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.Env = append(os.Environ(), "PGPASSWORD="+rolePassword)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: pgUser()}
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		server, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
		s.t.Fatalf("%s %s: %v\n%s\n%s", program, strings.Join(args, " "), err, text, server)
	}
}

func (s *ownServer) start(settings ...string) {
	s.t.Helper()
	options := fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=", s.port)
	for _, one := range settings {
		options += " -c " + one
	}
	s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "-l", filepath.Join(s.dir, "server.log"), "-o", options, "start")
}

// stop stops the server: "fast" ends every connection and writes everything down, "immediate" is as good as a power cut.
func (s *ownServer) stop(mode string) {
	s.t.Helper()
	s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "-m", mode, "stop")
}

// admin is a superuser's way in.
func (s *ownServer) admin() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("pgx", fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/postgres?sslmode=disable", adminName, rolePassword, s.port))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() }) //nolint:errcheck,gosec // on the way out
	return db
}

// databaseOn is the database of the test, on the first of the servers that takes writes.
func databaseOn(t *testing.T, servers ...*ownServer) *database {
	t.Helper()
	hosts := make([]string, len(servers))
	for i, s := range servers {
		hosts[i] = fmt.Sprintf("127.0.0.1:%d", s.port)
	}
	address := fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable&target_session_attrs=read-write", roleName, rolePassword, strings.Join(hosts, ","), roleName)
	return opened(t, &database{url: address, dir: workspace(t)}, "pgx", address)
}

// replica makes a second server that follows this one, and returns when it does.
func (s *ownServer) replica() *ownServer {
	s.t.Helper()
	r := emptyServer(s.t)
	r.run("pg_basebackup", "-D", r.data(), "-R", "-X", "stream", "-c", "fast", "-d",
		fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%s application_name=replica", s.port, adminName, rolePassword))
	r.start()
	s.follows(true)
	return r
}

// follows waits until a replica follows, or none does.
func (s *ownServer) follows(yes bool) {
	s.t.Helper()
	admin := s.admin()
	eventually(s.t, 30*time.Second, fmt.Sprintf("a replica to follow: %v", yes), func() (bool, string) {
		var n int
		if err := admin.QueryRow("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'").Scan(&n); err != nil {
			return false, err.Error()
		}
		return (n > 0) == yes, strconv.Itoa(n)
	})
}

// forget cuts a replica off: what is committed on its primary from now on is lost to it.
func (s *ownServer) forget(primary *ownServer) {
	s.t.Helper()
	admin := s.admin()
	for _, text := range []string{"ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"} {
		if _, err := admin.Exec(text); err != nil {
			s.t.Fatal(err)
		}
	}
	primary.follows(false)
}

func (s *ownServer) promote() {
	s.t.Helper()
	s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "promote")
}
