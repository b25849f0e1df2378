package ud02

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hashicorp/consul/api"
)

// Elector campaigns for the leader key of a job scheduler cluster.
type Elector struct {
	client  *api.Client
	key     string
	node    string
	session string
}

func (e *Elector) open() error {
	id, _, err := e.client.Session().Create(&api.SessionEntry{
		Name: e.node, TTL: "20s", Behavior: api.SessionBehaviorRelease,
	}, nil)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	e.session = id
	return nil
}

func (e *Elector) campaign() (bool, error) {
	ok, _, err := e.client.KV().Acquire(&api.KVPair{
		Key: e.key, Value: []byte(e.node), Session: e.session,
	}, nil)
	return ok, err
}

// resign drops the leader key on shutdown, so that a successor need not wait.
func (e *Elector) resign() error { // may:R
	kv := e.client.KV()
	pair, _, err := kv.Get(e.key, &api.QueryOptions{RequireConsistent: true})
	if err != nil {
		return err
	}
	if pair == nil || pair.Session != e.session {
		return nil
	}
	_, err = kv.Delete(e.key, nil) // want:C
	return err
}

func (e *Elector) Run(ctx context.Context) error { // may:M|S
	if err := e.open(); err != nil {
		return err
	}
	defer func() {
		if err := e.resign(); err != nil {
			log.Printf("resign: %v", err)
		}
	}()
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		if _, err := e.campaign(); err != nil {
			return err
		}
		if _, _, err := e.client.Session().Renew(e.session, nil); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}
