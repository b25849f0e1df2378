package uf10

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type segment struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

// DataCoord is the active coordinator of a storage cluster.
type DataCoord struct {
	cli    *clientv3.Client
	root   string
	nodeID string
	flush  <-chan segment
}

// Serve campaigns and then persists what data nodes report. A coordinator
// whose session ran out while it was paused goes on saving.
func (d *DataCoord) Serve(ctx context.Context) error {
	sess, err := concurrency.NewSession(d.cli, concurrency.WithTTL(20))
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer func() { _ = sess.Close() }()

	el := concurrency.NewElection(sess, d.root+"/coord")
	if err := el.Campaign(ctx, d.nodeID); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	slog.Info("active", "node", d.nodeID, "rev", el.Rev())

	for {
		select {
		case <-ctx.Done():
			return el.Resign(context.WithoutCancel(ctx))
		case <-sess.Done():
			return fmt.Errorf("session of %s expired", d.nodeID)
		case s := <-d.flush:
			s.State = "flushed"
			raw, err := json.Marshal(s)
			if err != nil {
				return err
			}
			key := fmt.Sprintf("%s/segments/%d", d.root, s.ID)
			if _, err := d.cli.Put(ctx, key, string(raw)); err != nil { // want:C
				return fmt.Errorf("save segment %d: %w", s.ID, err)
			}
		}
	}
}
