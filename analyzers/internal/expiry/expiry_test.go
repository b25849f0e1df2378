package expiry_test

import (
	"go/types"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/summary"
	"github.com/fencelint/fence/internal/config"
)

// nothing is a lookup that knows no other package.
type nothing struct{}

func (nothing) Func(*types.Func) *summary.Func    { return nil }
func (nothing) Stored(*types.Var) *summary.Stored { return nil }

// The columns that f binds, and whether the value of the probe is an expiry of
// ownership, under a configuration that declares runs.stamp.
func code(t *testing.T, src string) *summary.Code {
	t.Helper()
	c, err := config.Parse("fence.yaml", []byte("version: 1\nleases:\n  expiries: [runs.stamp, example.com/p.run.Stamp]\n"))
	if err != nil {
		t.Fatal(err)
	}
	return summary.New(irtest.SSA(t, src), nothing{}, resource.New(c, nil), &origin.Hits{})
}

func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1 FROM leases WHERE expires_at < $1":                                                                 "leases.expires_at",
		"SELECT 1 FROM leases WHERE expires_at <= $1":                                                                "leases.expires_at",
		"SELECT 1 FROM leases WHERE $1 > expires_at":                                                                 "leases.expires_at",
		"SELECT 1 FROM leases WHERE NOT expires_at > $1":                                                             "leases.expires_at",
		"SELECT 1 FROM leases l, jobs j WHERE l.expires_at < $1":                                                     "leases.expires_at",
		"SELECT 1 FROM leases l, jobs j WHERE j.expires_at < $1":                                                     "",
		"SELECT 1 FROM jobs WHERE locked_until < $1":                                                                 "jobs.locked_until",
		"SELECT 1 FROM jobs WHERE heartbeat_at + interval '1 min' < $1":                                              "jobs.heartbeat_at",
		"SELECT 1 FROM jobs WHERE COALESCE(locked_until, now()) < $1":                                                "jobs.locked_until",
		"SELECT 1 FROM jobs WHERE id IN (SELECT job FROM leases WHERE expires_at < $1)":                              "leases.expires_at",
		"WITH old AS (SELECT id FROM leases WHERE expires_at < $1) DELETE FROM x USING old":                          "leases.expires_at",
		"UPDATE leases SET owner = $2 WHERE name = 'a' AND (owner = $2 OR expires_at < $1)":                          "leases.expires_at",
		"UPDATE leases SET owner = CASE WHEN expires_at < $1 THEN $2 ELSE owner END":                                 "leases.expires_at",
		"INSERT INTO leases (name) VALUES ('a') ON CONFLICT (name) DO UPDATE SET a = 1 WHERE leases.expires_at < $1": "leases.expires_at",
		"DELETE FROM runs WHERE stamp < $1":                                                                          "runs.stamp",
		"DELETE FROM other WHERE stamp < $1":                                                                         "",
		"DELETE FROM leases WHERE expires_at = $1":                                                                   "",
		"DELETE FROM leases WHERE expires_at < now()":                                                                "",
		"UPDATE leases SET expires_at = $1":                                                                          "",
		"INSERT INTO leases (expires_at) VALUES ($1)":                                                                "",
		"DELETE FROM sessions WHERE expires_at < $1":                                                                 "",
		"DELETE FROM jobs WHERE created_at < $1":                                                                     "",
		"DELETE FROM releases WHERE released_at < $1":                                                                "",
		"DELETE FROM user_sessions WHERE lock_expires < $1":                                                          "",
		"not SQL at all $1": "",
	} {
		c := code(t, "package p\nimport (\"database/sql\"; \"time\")\nfunc f(db *sql.DB, t time.Time) { db.Exec(`"+text+"`, t, \"me\") }\n")
		var got []string
		for _, b := range c.Expiry.In(irtest.Func(t, c.Pkg, "f")) {
			if len(got) == 0 || got[len(got)-1] != b.What {
				got = append(got, b.What)
			}
			if b.Value == nil || !strings.Contains(b.Value.String(), "time.Time") {
				t.Errorf("%s: binds %v", text, b.Value)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}

func TestOwns(t *testing.T) {
	for src, want := range map[string]bool{
		"type lease struct { Expires int64 `json:\"e\"` }; func f(x *lease) { probe(x.Expires) }":                       true,
		"type job struct { LockedUntil int64 `json:\"e\"` }; func f(x *job) { probe(x.LockedUntil) }":                   true,
		"type job struct { Owner string; Expires int64 `json:\"e\"` }; func f(x *job) { probe(x.Expires) }":             true,
		"type run struct { Stamp int64 `json:\"e\"` }; func f(x *run) { probe(x.Stamp) }":                               true,
		"type job struct { Expires int64 `json:\"e\"` }; func f(x *job) { probe(x.Expires) }":                           false,
		"type job struct { Owner string; Created int64 `json:\"e\"` }; func f(x *job) { probe(x.Created) }":             false,
		"type doc struct { OwnerID int64; Expires int64 `json:\"e\"` }; func f(x *doc) { probe(x.Expires) }":            false,
		"type session struct { Owner string; Expires int64 `json:\"e\"` }; func f(x *session) { probe(x.Expires) }":     false,
		"type sessionLock struct { Expires int64 `json:\"e\"` }; func f(x *sessionLock) { probe(x.Expires) }":           false,
		"type sessionLease struct { Expires int64 `json:\"e\"` }; func f(x *sessionLease) { probe(x.Expires) }":         true,
		"type dhcpEntry struct { Owner string; Expires int64 `json:\"e\"` }; func f(x *dhcpEntry) { probe(x.Expires) }": false,
		"type Release struct { Expires int64 `json:\"e\"` }; func f(x *Release) { probe(x.Expires) }":                   false,
	} {
		c := code(t, "package p\n"+src)
		ds := c.Record.Of(irtest.Probe(t, c.Pkg))
		if len(ds) != 1 {
			t.Errorf("%s: %d data", src, len(ds))
			continue
		}
		if why, ok := c.Expiry.Owns(ds[0], irtest.Calls(c.Pkg, "probe")[0]); ok != want || ok != (why != "") {
			t.Errorf("%s: %t, %q", src, ok, why)
		}
	}
}
