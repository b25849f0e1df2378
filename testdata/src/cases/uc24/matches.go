package uc24

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var errOwned = errors.New("match is simulated by another node")

// ownerRecord says which node simulates a match, and until when.
type ownerRecord struct {
	Node  string `json:"node"`
	Until int64  `json:"until"` // milliseconds, that node's clock
}

type Directory struct {
	rdb  redis.Cmdable
	node string
	hold time.Duration
}

func ownerKey(match string) string { return fmt.Sprintf("match:%s:owner", match) }

func (d *Directory) read(ctx context.Context, match string) (*ownerRecord, error) {
	raw, err := d.rdb.Get(ctx, ownerKey(match)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec := new(ownerRecord)
	return rec, json.Unmarshal(raw, rec)
}

// Adopt makes this node the owner of an ownerless match.
func (d *Directory) Adopt(ctx context.Context, match string) error {
	rec, err := d.read(ctx, match)
	if err != nil {
		return err
	}
	if rec != nil && rec.Node != d.node {
		if left := rec.Until - time.Now().UnixMilli(); left > 0 { // want:T
			return fmt.Errorf("%w for %d ms", errOwned, left)
		}
	}
	b, err := json.Marshal(ownerRecord{Node: d.node, Until: time.Now().Add(d.hold).UnixMilli()}) // may:T
	if err != nil {
		return err
	}
	return d.rdb.Set(ctx, ownerKey(match), b, 0).Err() // want:C // may:T
}

// Locate is for gateways that route players.
func (d *Directory) Locate(ctx context.Context, match string) (string, error) {
	rec, err := d.read(ctx, match)
	if err != nil || rec == nil {
		return "", err
	}
	return rec.Node, nil
}
