package soak

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is one program that is started, killed and started again under the same name.
type process struct {
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

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() // the child has its own
	p.lives++
	fmt.Fprintf(out, "---- %s: life %d at %s\n", p.name, p.lives, time.Now().Format(time.RFC3339Nano))
	cmd := exec.Command(p.path, p.args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), p.env...)
	cmd.SysProcAttr = diesWithUs()
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

// running is the process id of the life that runs, and a channel that is closed when it ends; 0: none runs.
func (p *process) running() (pid int, exited <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0, nil
	}
	select {
	case <-p.exited: // its number may belong to somebody else by now
		return 0, nil
	default:
		return p.cmd.Process.Pid, p.exited
	}
}

// kill ends the process as a power failure would, and returns when it is gone.
func (p *process) kill() {
	if _, exited := p.running(); exited != nil {
		p.cmd.Process.Kill() // already gone is what we want
		<-exited
	}
}

// stop asks the process to end and returns how it did.
func (p *process) stop(within time.Duration) error {
	_, exited := p.running()
	if exited == nil {
		return errors.New("it had ended by itself")
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-exited:
		return p.err
	case <-time.After(within):
		return fmt.Errorf("it did not stop within %s", within)
	}
}

var client = &http.Client{Timeout: 5 * time.Second}

// answering waits until the address answers 200.
func (p *process) answering(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if pid, _ := p.running(); pid == 0 {
			return fmt.Errorf("%s ended at start: see %s", p.name, p.log)
		}
		if res, err := client.Get(address); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		if !pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("%s does not answer: see %s", p.name, p.log)
		}
	}
}

// pause waits; it reports whether ctx still lives.
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

var handedOut = map[int]bool{}

// freeAddress is one below the range from which the system hands out ports, so that it is still free after a restart.
func freeAddress() (string, error) {
	for port := 11_000 + os.Getpid()%8_000; port < 20_000; port++ {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		l, err := net.Listen("tcp", address)
		if err != nil || handedOut[port] {
			if err == nil {
				l.Close()
			}
			continue
		}
		l.Close()
		handedOut[port] = true
		return address, nil
	}
	return "", errors.New("no free port")
}
