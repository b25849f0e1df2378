package etcdlease

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// format is of the keys' layout and values. What has another one is refused.
const format = 1

// A meta is what a namespace knows of itself.
type meta struct {
	Format      int    `json:"format"`
	Cluster     string `json:"cluster"`     // the cluster's id, in hexadecimal
	Incarnation int    `json:"incarnation"` // see protocol.Allocator
	Longest     int64  `json:"longest_s"`   // the longest time, in seconds, for which an etcd lease kept others out
}

// A record is a resource's last grant. Nothing is decided by its times, which are of the
// clock of whoever wrote it and are for people: what is over is told by etcd's leases.
type record struct {
	GrantID     string `json:"grant"`
	Owner       string `json:"owner"`
	Incarnation int    `json:"incarnation"`
	// Counter is 0 in a record that is as its grant, or its break, wrote it: the counter is
	// then the revision of that transaction, which nobody knows before it is committed and
	// which etcd keeps as the key's ModRevision.
	Counter   int64               `json:"counter,omitempty"`
	End       protocol.End        `json:"end,omitempty"`
	Granted   time.Time           `json:"granted"`
	Renewed   time.Time           `json:"renewed"`
	Expires   time.Time           `json:"expires"`
	Free      time.Time           `json:"free"` // when another can be granted
	Renewals  int64               `json:"renewals"`
	TTL       time.Duration       `json:"ttl_ns"`
	Usable    time.Duration       `json:"usable_ns"`
	LockDelay time.Duration       `json:"lock_delay_ns"`
	Leased    int64               `json:"leased_s"` // TTL of the etcd lease that the lease key is on, in seconds
	Before    fencedb.Predecessor `json:"before"`
}

// An audit is a break by an operator.
type audit struct {
	Resource string    `json:"resource"`
	Value    int64     `json:"token"`
	GrantID  string    `json:"grant"`
	Owner    string    `json:"owner"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason"`
	NoDelay  bool      `json:"no_delay"`
	At       time.Time `json:"at"` // by the operator's clock
}

// encode writes a value of this package, which has nothing that JSON cannot hold.
func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("etcdlease: writing a record: %w", err)
	}
	return string(b), nil
}

func decodeMeta(key string, value []byte) (meta, error) {
	var m meta
	if err := json.Unmarshal(value, &m); err != nil {
		return meta{}, damaged(key, err)
	}
	if m.Format != format {
		return meta{}, fmt.Errorf("%w: key %s has format %d and this program knows %d: run one version of fence, the newer one", fencedb.ErrRefused, key, m.Format, format)
	}
	if m.Incarnation < 0 || m.Incarnation > protocol.MaxIncarnation || m.Longest < 0 {
		return meta{}, damaged(key, fmt.Errorf("incarnation %d or longest_s %d is out of range", m.Incarnation, m.Longest))
	}
	return m, nil
}

// decodeRecord reads a record whose key was written last by revision.
func decodeRecord(key string, value []byte, revision int64) (record, error) {
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return record{}, damaged(key, err)
	}
	if r.Counter == 0 {
		r.Counter = revision
	}
	if _, err := fencedb.MakeValue(r.Incarnation, r.Counter); err != nil {
		return record{}, damaged(key, err)
	}
	if r.GrantID == "" {
		return record{}, damaged(key, fmt.Errorf("it has no grant"))
	}
	return r, nil
}

func damaged(key string, err error) error {
	return fmt.Errorf("%w: key %s is damaged (%w): restore it, or delete it and advance the namespace's incarnation", fencedb.ErrRefused, key, err)
}

// value returns the token's number, 0 for the zero record.
func (r record) value() int64 {
	if r.GrantID == "" {
		return 0
	}
	return int64(r.Incarnation)<<counterBits | r.Counter
}

const counterBits = 48

// predecessor returns the grant as the one before another.
func (r record) predecessor(end protocol.End) fencedb.Predecessor {
	if r.GrantID == "" {
		return fencedb.Predecessor{}
	}
	return fencedb.Predecessor{Value: r.value(), GrantID: r.GrantID, Owner: r.Owner, End: string(end), Renewed: r.Renewed, Ended: r.Expires}
}
