//go:build linux

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// An Etcd is a cluster of three members, each a process of its own.
type Etcd struct {
	Addrs   [members]string // where the members listen to clients, host and port
	members [members]*process
}

const members = 3

// memberConfig is what a member's process is told, as JSON.
type memberConfig struct {
	Name, Dir, Peer, Client, Cluster string
}

// StartEtcd starts a cluster below a directory. A member is a process of the command, which
// has to call [ServeEtcd] with what is in the environment variable.
//
// Elections take 600 to 1200 ms, so that etcd leases of one second are possible. Members do
// not wait for the disk: a process that is killed loses nothing by that.
func StartEtcd(ctx context.Context, root string, command []string, variable string) (*Etcd, error) {
	e := &Etcd{}
	var all [members]memberConfig
	var cluster []string
	for i := range members {
		peer, err := free()
		if err != nil {
			return nil, err
		}
		client, err := free()
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("m%d", i)
		e.Addrs[i] = fmt.Sprintf("127.0.0.1:%d", client)
		all[i] = memberConfig{Name: name, Dir: filepath.Join(root, "etcd", name), Peer: fmt.Sprintf("http://127.0.0.1:%d", peer), Client: "http://" + e.Addrs[i]}
		cluster = append(cluster, name+"="+all[i].Peer)
	}
	for i, m := range all {
		m.Cluster = strings.Join(cluster, ",")
		config, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		e.members[i] = &process{name: "etcd member " + m.Name, dir: root, args: command, env: []string{variable + "=" + string(config)},
			log: filepath.Join(root, m.Name+".log"), ready: listens(e.Addrs[i])}
		if err := e.members[i].launch(); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	for _, m := range e.members {
		if err := m.wait(ctx); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

func listens(addr string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// Stop kills a member.
func (e *Etcd) Stop(i int) error { return e.members[i].stop(syscall.SIGKILL) }

// Start starts a member that was killed, and returns when it listens.
func (e *Etcd) Start(ctx context.Context, i int) error { return e.members[i].start(ctx) }

// Close ends the members.
func (e *Etcd) Close() (err error) {
	for _, m := range e.members {
		if m != nil && m.cmd != nil {
			err = errors.Join(err, m.stop(syscall.SIGKILL))
		}
	}
	return err
}

// ServeEtcd is a member's process: it serves until it is told to end.
func ServeEtcd(config string) error {
	var m memberConfig
	if err := json.Unmarshal([]byte(config), &m); err != nil {
		return fmt.Errorf("server: the configuration of a member: %w", err)
	}
	peer, err := url.Parse(m.Peer)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	client, err := url.Parse(m.Client)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = m.Name, m.Dir
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	cfg.InitialCluster, cfg.InitialClusterToken = m.Cluster, "takeovers"
	cfg.TickMs, cfg.ElectionMs = 60, 600
	cfg.UnsafeNoFsync = true
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("server: starting %s: %w", m.Name, err)
	}
	defer e.Close()
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(time.Minute):
		return fmt.Errorf("server: %s is not ready after a minute", m.Name)
	}
	select {
	case <-told:
		return nil
	case err := <-e.Err():
		return fmt.Errorf("server: %s: %w", m.Name, err)
	case <-e.Server.StopNotify():
		return fmt.Errorf("server: %s has ended", m.Name)
	}
}
