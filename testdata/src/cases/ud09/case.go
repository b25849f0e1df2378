package ud09

import (
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

var ErrDeposed = errors.New("another reader leads")

// Reader streams a replication slot; its leader key expires by the bucket's TTL.
type Reader struct {
	kv   jetstream.KeyValue
	slot string
	id   string
}

func NewReader(kv jetstream.KeyValue, slot string) *Reader {
	host, _ := os.Hostname()
	return &Reader{kv: kv, slot: slot, id: host + "/" + strconv.Itoa(os.Getpid())}
}

func (r *Reader) leaderKey() string { return "leader." + r.slot }

func (r *Reader) acquire(ctx context.Context) error {
	_, err := r.kv.Create(ctx, r.leaderKey(), []byte(r.id))
	return err
}

func (r *Reader) leads(ctx context.Context) (bool, error) { // may:R
	e, err := r.kv.Get(ctx, r.leaderKey())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return string(e.Value()) == r.id, nil
}

// Confirm stores the position up to which downstream has everything.
func (r *Reader) Confirm(ctx context.Context, lsn uint64) error {
	ok, err := r.leads(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return ErrDeposed
	}
	_, err = r.kv.Put(ctx, "lsn."+r.slot, []byte(strconv.FormatUint(lsn, 10))) // want:C
	return err
}

// Close gives the leader key back if it is still ours.
func (r *Reader) Close() error { // may:R
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	e, err := r.kv.Get(ctx, r.leaderKey())
	if err != nil {
		return err
	}
	if string(e.Value()) != r.id {
		return nil
	}
	return r.kv.Delete(ctx, r.leaderKey()) // want:C
}

func (r *Reader) Start(ctx context.Context, read func(context.Context) error) error { // may:M
	if err := r.acquire(ctx); err != nil {
		return err
	}
	return read(ctx)
}
