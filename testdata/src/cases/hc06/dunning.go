package hc06

import (
	"context"
	"errors"
	"log"

	"github.com/hashicorp/consul/api"

	"example.com/corpus/cases/hc06/db"
)

var errNoLock = errors.New("could not become the dunning node")

func RunDunning(ctx context.Context, consul *api.Client, q *db.Queries) error {
	lock, err := consul.LockOpts(&api.LockOptions{Key: "service/dunning/leader", SessionTTL: "15s"})
	if err != nil {
		return err
	}
	lost, err := lock.Lock(ctx.Done())
	if err != nil {
		return err
	}
	if lost == nil {
		return errNoLock
	}
	defer func() {
		if err := lock.Unlock(); err != nil {
			log.Printf("unlock: %v", err)
		}
	}()
	ids, err := q.ListDue(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		select {
		case <-lost:
			return errNoLock
		default:
		}
		if err := q.MarkOverdue(ctx, id); err != nil { // want:C
			return err
		}
	}
	return nil
}
