package ub28

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A task is stored under /tasks/<id>; the runner that works on it stamps the
// value every few seconds.
type task struct {
	Runner    string    `json:"runner"`
	Heartbeat time.Time `json:"heartbeat"`
	Payload   []byte    `json:"payload"`
	Tries     int       `json:"tries"`
}

type Supervisor struct {
	cli     *clientv3.Client
	silence time.Duration
	node    string
}

func orphaned(t *task, silence time.Duration) bool {
	return t.Runner != "" && time.Since(t.Heartbeat) > silence // want:T
}

// Adopt takes one orphaned task for this node. The compare on the mod revision
// makes sure that only one supervisor wins it.
func (s *Supervisor) Adopt(ctx context.Context) (string, []byte, error) {
	resp, err := s.cli.Get(ctx, "/tasks/", clientv3.WithPrefix())
	if err != nil {
		return "", nil, err
	}
	for _, kv := range resp.Kvs {
		var t task
		if err := json.Unmarshal(kv.Value, &t); err != nil {
			return "", nil, fmt.Errorf("%s: %w", kv.Key, err)
		}
		if !orphaned(&t, s.silence) {
			continue
		}
		t.Runner, t.Heartbeat = s.node, time.Now() // may:T
		t.Tries++
		raw, err := json.Marshal(t)
		if err != nil {
			return "", nil, err
		}
		key := string(kv.Key)
		tr, err := s.cli.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", kv.ModRevision)).
			Then(clientv3.OpPut(key, string(raw))).
			Commit()
		if err != nil {
			return "", nil, err
		}
		if tr.Succeeded {
			return key, t.Payload, nil
		}
	}
	return "", nil, nil
}
