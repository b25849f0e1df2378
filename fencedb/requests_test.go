package fencedb_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

func TestRequestCheck(t *testing.T) {
	acquire := fencedb.AcquireRequest{Resource: "r", GrantID: "g", Owner: "o", TTL: time.Second}
	renew := fencedb.RenewRequest{Token: fencedbtest.Token("r", 1), TTL: time.Second}
	if err := errors.Join(acquire.Check(), renew.Check()); err != nil {
		t.Fatal(err)
	}
	external, err := fencedb.ExternalToken("r", 1)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(){
		"no resource":                      func() { acquire.Resource = "" },
		"no grant id":                      func() { acquire.GrantID = "" },
		"255 bytes of UTF-8":               func() { acquire.Owner = strings.Repeat("x", 256) },
		`owner "a\x00b"`:                   func() { acquire.Owner = "a\x00b" },
		"the TTL is 0s":                    func() { acquire.TTL = 0 },
		"the TTL is 24h0m1s":               func() { acquire.TTL = 24*time.Hour + time.Second },
		"the lock-delay is -1ns":           func() { acquire.LockDelay = -1 },
		"the usable window is -1ns":        func() { acquire.Usable = -1 },
		"the TTL is -1s":                   func() { renew.TTL = -time.Second },
		"the usable window is 25h0m0s; it": func() { renew.Usable = 25 * time.Hour },
		"(no token) is of no grant":        func() { renew.Token = fencedb.Token{} },
		"r/1/ is of no grant":              func() { renew.Token = external },
	} {
		a, n := acquire, renew
		change()
		err := errors.Join(acquire.Check(), renew.Check())
		acquire, renew = a, n
		if !errors.Is(err, fencedb.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
