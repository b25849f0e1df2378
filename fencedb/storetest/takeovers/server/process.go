//go:build linux

// Package server starts the servers of stores as processes of their own, with their data in a
// directory, and stops them in the ways that a run wants: nothing else uses them. They end
// with the process that started them.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// ErrMissing says that a server is not installed. The error says what to install.
var ErrMissing = errors.New("the server is not installed")

// A process is a server that can be stopped and started again.
type process struct {
	name   string
	dir    string // it runs there
	args   []string
	env    []string
	asUser *syscall.Credential // nil: whoever we are
	ready  func(ctx context.Context) error
	log    string

	cmd  *exec.Cmd
	over chan struct{} // closed when cmd has ended
}

// start starts the process and waits until it is ready.
func (p *process) start(ctx context.Context) error {
	if err := p.launch(); err != nil {
		return err
	}
	return p.wait(ctx)
}

func (p *process) launch() error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.dir, log, log
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: p.asUser, Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("server: starting %s: %w", p.name, err)
	}
	over := make(chan struct{})
	p.over = over
	go func(cmd *exec.Cmd) {
		defer close(over)
		_ = cmd.Wait() // how it ended is in its log
	}(p.cmd)
	return nil
}

// wait waits until the process is ready.
func (p *process) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.over:
			return fmt.Errorf("server: %s ended while it started: %s", p.name, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("server: %s is not ready: %w: %s", p.name, err, p.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tail returns the end of the log.
func (p *process) tail() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(log[max(0, len(log)-2000):]))
}

// stop sends a signal and waits for the end.
func (p *process) stop(signal syscall.Signal) error {
	select {
	case <-p.over:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("server: stopping %s: %w", p.name, err)
	}
	select {
	case <-p.over:
		return nil
	case <-time.After(30 * time.Second):
		return errors.Join(fmt.Errorf("server: %s did not end after %v", p.name, signal), p.cmd.Process.Kill())
	}
}

// workspace is a directory that the server's user can use. PostgreSQL and MariaDB do not run
// as root, so it is nobody's then.
func workspace(root, name string) (dir string, user *syscall.Credential, err error) {
	dir = filepath.Join(root, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("server: %w", err)
	}
	if os.Geteuid() != 0 {
		return dir, nil, nil
	}
	const nobody, nogroup = 65534, 65534
	if err := os.Chown(dir, nobody, nogroup); err != nil {
		return "", nil, fmt.Errorf("server: %w", err)
	}
	return dir, &syscall.Credential{Uid: nobody, Gid: nogroup}, nil
}

// prepare runs a command to its end.
func prepare(ctx context.Context, dir string, user *syscall.Credential, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: user}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("server: %s: %w: %s", filepath.Base(args[0]), err, bytes.TrimSpace(out))
	}
	return nil
}

// free returns a port of 127.0.0.1 that nobody listened to just now.
func free() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("server: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
