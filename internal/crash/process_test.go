//go:build unix

package crash

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is one program that is started, stopped, killed and started again under the same name.
type process struct {
	t    *testing.T
	name string
	log  string // appended to by every life
	path string
	args []string
	env  []string

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // of the last life
	lives  int
}

func newProcess(t *testing.T, name, log, path string, args []string, env ...string) *process {
	p := &process{t: t, name: name, log: log, path: path, args: args, env: env}
	t.Cleanup(p.kill)
	return p
}

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() //nolint:errcheck // the child has its own
	p.lives++
	fmt.Fprintf(out, "---- %s: life %d at %s\n", p.name, p.lives, time.Now().Format(time.RFC3339Nano)) //nolint:errcheck // a log
	cmd := exec.Command(p.path, p.args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), p.env...)
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	p.cmd, p.exited = cmd, exited
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(exited)
	}()
	return nil
}

// signal sends sig to the process and everything that it started; it is no error if it is gone.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		syscall.Kill(-p.cmd.Process.Pid, sig) //nolint:errcheck,gosec // gone is what we want
	}
}

// freeze stops the process and returns when it stands still: on a busy machine its threads run on for a while after the
// signal was sent.
func (p *process) freeze() {
	p.mu.Lock()
	pid := p.cmd.Process.Pid
	p.mu.Unlock()
	p.signal(syscall.SIGSTOP)
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		var status syscall.WaitStatus
		if got, err := syscall.Wait4(pid, &status, syscall.WUNTRACED|syscall.WNOHANG, nil); err != nil || got == pid && status.Stopped() {
			return // an error: it is gone
		}
		if time.Now().After(deadline) {
			p.t.Errorf("%s did not stand still within 10s", p.name)
			return
		}
	}
}

// kill ends the process as a power failure would, and returns when it is gone.
func (p *process) kill() {
	p.mu.Lock()
	exited := p.exited
	p.mu.Unlock()
	if exited == nil {
		return
	}
	select {
	case <-exited: // its number may belong to somebody else by now
		return
	default:
	}
	p.signal(syscall.SIGKILL)
	<-exited
}

// stop asks the process to end and returns how it did.
func (p *process) stop(within time.Duration) error {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err
	case <-time.After(within):
		return fmt.Errorf("%s did not stop within %s", p.name, within)
	}
}

// alive reports whether the process runs, frozen or not.
func (p *process) alive() bool {
	p.mu.Lock()
	exited := p.exited
	p.mu.Unlock()
	if exited == nil {
		return false
	}
	select {
	case <-exited:
		return false
	default:
		return true
	}
}

// eventually polls until done reports true; it fails the test with what is told if that takes too long.
func eventually(t *testing.T, within time.Duration, what string, done func() (bool, string)) {
	t.Helper()
	deadline := time.Now().Add(within)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, state := done()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain for: %s (%s)", within, what, state)
		}
		<-tick.C
	}
}

// pause waits for a part of a disturbance to pass; it reports whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// freePort is one below the range from which the system hands out ports, so that it is still free after a restart.
func freePort(t *testing.T) int {
	t.Helper()
	for range 200 {
		port := 11_000 + int(time.Now().UnixNano()/1000)%8_000
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		l.Close() //nolint:errcheck,gosec // only asked
		if _, taken := handedOut.LoadOrStore(port, true); !taken {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

var handedOut sync.Map // ports given to processes of this run, also while those are down
