package proxy_test

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb/storetest/takeovers/proxy"
)

// echo starts a server that answers with what it is told, and a proxy before it.
func echo(t *testing.T) (p *proxy.Proxy, heard func() string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []byte
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				buffer := make([]byte, 100)
				for {
					n, err := conn.Read(buffer)
					mu.Lock()
					all = append(all, buffer[:n]...)
					mu.Unlock()
					if err != nil {
						return
					}
					if _, err := conn.Write(buffer[:n]); err != nil {
						return
					}
				}
			})
		}
	})
	if p, err = proxy.Listen(listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		listener.Close()
		serving.Wait()
	})
	return p, func() string {
		mu.Lock()
		defer mu.Unlock()
		return string(all)
	}
}

func dial(t *testing.T, p *proxy.Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func say(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// hear wants a text within a second, and returns how long it took.
func hear(t *testing.T, conn net.Conn, want string) time.Duration {
	t.Helper()
	began := time.Now()
	got := make([]byte, len(want))
	if err := conn.SetReadDeadline(began.Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("heard %q, %v; want %q", got, err, want)
	}
	return time.Since(began)
}

// silent fails if something arrives within a while.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("heard %d bytes, %v; want silence", n, err)
	}
}

func TestCarries(t *testing.T) {
	p, heard := echo(t)
	conn := dial(t, p)
	say(t, conn, "one")
	hear(t, conn, "one")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(conn); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
	if heard() != "one" {
		t.Errorf("the server heard %q", heard())
	}
}

func TestDelay(t *testing.T) {
	p, _ := echo(t)
	conn := dial(t, p)
	say(t, conn, "warm")
	hear(t, conn, "warm")
	for _, d := range []proxy.Direction{proxy.Up, proxy.Down} {
		p.Set(d, proxy.Line{Delay: 100 * time.Millisecond})
		say(t, conn, "slow")
		if took := hear(t, conn, "slow"); took < 95*time.Millisecond {
			t.Errorf("direction %d: the answer took %v, want 100ms", d, took)
		}
		p.Set(d, proxy.Line{})
	}
}

func TestHoldOneWay(t *testing.T) {
	p, heard := echo(t)
	conn := dial(t, p)
	p.Set(proxy.Down, proxy.Line{Hold: true})
	say(t, conn, "deaf")
	silent(t, conn)
	if heard() != "deaf" {
		t.Errorf("the server heard %q: that direction was open", heard())
	}
	p.Set(proxy.Down, proxy.Line{})
	hear(t, conn, "deaf") // late

	p.Set(proxy.Up, proxy.Line{Hold: true})
	say(t, conn, "mute")
	silent(t, conn)
	if heard() != "deaf" {
		t.Errorf("the server heard %q through a direction that is held", heard())
	}
	p.Set(proxy.Up, proxy.Line{})
	hear(t, conn, "mute")
}

func TestCutLosesWhatWaits(t *testing.T) {
	p, heard := echo(t)
	conn := dial(t, p)
	say(t, conn, "before")
	hear(t, conn, "before")
	p.Set(proxy.Up, proxy.Line{Hold: true})
	say(t, conn, "lost")
	silent(t, conn)
	p.Refuse(true)
	p.Cut()
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection that was cut: %d bytes, %v", n, err)
	}
	refused(t, p)
	p.Set(proxy.Up, proxy.Line{})
	p.Refuse(false)
	again := dial(t, p)
	say(t, again, "after")
	hear(t, again, "after")
	if heard() != "beforeafter" {
		t.Errorf("the server heard %q", heard())
	}
}

func TestNoServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close() // nobody listens there now
	p, err := proxy.Listen(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	refused(t, p)
}

// refused wants a reset, which can come before the connection is known to be there.
func refused(t *testing.T, p *proxy.Proxy) {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if errors.Is(err, syscall.ECONNRESET) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection that is to be refused: %d bytes, %v", n, err)
	}
}
