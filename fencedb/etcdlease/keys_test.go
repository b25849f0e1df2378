package etcdlease

import (
	"errors"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

func FuzzKeys(f *testing.F) {
	f.Add("fence", "default", "orders:daily")
	f.Add("fence/x", "a/b", "a%2Fb/last,1")
	f.Add("f", "..", "日本")
	f.Fuzz(func(t *testing.T, prefix, namespace, resource string) {
		k := newKeys(prefix, namespace)
		for kind, key := range map[string]string{"last": k.last(resource), "lease": k.lease(resource), "delay": k.delay(resource)} {
			if got, err := k.resource(key, kind); err != nil || got != resource {
				t.Errorf("%q of kind %s: %q, %v, want %q", key, kind, got, err, resource)
			}
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"grant":"g","owner":"o","incarnation":1}`), int64(5))
	f.Add([]byte(`{"grant":"g","incarnation":-1,"counter":7}`), int64(5))
	f.Add([]byte(`null`), int64(0))
	f.Fuzz(func(t *testing.T, value []byte, revision int64) {
		r, err := decodeRecord("key", value, revision)
		if err != nil {
			if !errors.Is(err, fencedb.ErrRefused) {
				t.Errorf("%q: %v, want ErrRefused", value, err)
			}
			return
		}
		if r.value() <= 0 {
			t.Errorf("%q at revision %d has the value %d", value, revision, r.value())
		}
		text, err := encode(r)
		if err != nil {
			return // a time that JSON has no form for cannot have come from it
		}
		if again, err := decodeRecord("key", []byte(text), 1); err != nil || again.value() != r.value() || again.GrantID != r.GrantID {
			t.Errorf("%s, written again: %+v, %v", text, again, err)
		}
	})
}

func FuzzDecodeGuard(f *testing.F) {
	f.Add("5/g", int64(9))
	f.Add("@1/g", int64(9))
	f.Add("@/", int64(0))
	f.Fuzz(func(t *testing.T, value string, revision int64) {
		row, err := decodeGuard("key", &found{value: []byte(value), revision: revision})
		if err != nil {
			if !errors.Is(err, fencedb.ErrRefused) {
				t.Errorf("%q: %v, want ErrRefused", value, err)
			}
			return
		}
		if row.known.Value <= 0 {
			t.Errorf("%q at revision %d knows %d", value, revision, row.known.Value)
		}
	})
}

// The two forms of a guard's value are of one token.
func TestGuardForms(t *testing.T) {
	value, err := fencedb.MakeValue(3, 77)
	if err != nil {
		t.Fatal(err)
	}
	token, err := fencedb.NewToken("r", value, "g")
	if err != nil {
		t.Fatal(err)
	}
	for form, revision := range map[string]int64{ownGuard(3, "g"): 77, raisedGuard(token): 1234} {
		row, err := decodeGuard("key", &found{value: []byte(form), revision: revision})
		if want := (protocol.Guard{Value: value, GrantID: "g"}); err != nil || row.known != want {
			t.Errorf("%s at revision %d: %+v, %v, want %+v", form, revision, row.known, err, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[string]int64{"1us": 1, "1s": 1, "1.000001s": 2, "24h": 86400} {
		if got := seconds(duration(t, d)); got != want {
			t.Errorf("%s is %d s, want %d", d, got, want)
		}
	}
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
