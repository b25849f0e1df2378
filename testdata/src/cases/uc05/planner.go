package uc05

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type placement struct {
	Job  string   `json:"job"`
	Node string   `json:"node"`
	CPUs int      `json:"cpus"`
	Tags []string `json:"tags,omitempty"`
}

// Planner is the scheduler of a small cluster manager: one of three campaigns
// successfully and places jobs, the others wait.
type Planner struct {
	cli  *clientv3.Client
	node string
	jobs <-chan string
	pick func(job string) placement
}

func (p *Planner) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := p.term(ctx); err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return ctx.Err()
}

func (p *Planner) term(ctx context.Context) error {
	sess, err := concurrency.NewSession(p.cli, concurrency.WithTTL(15))
	if err != nil {
		return err
	}
	defer sess.Close()
	el := concurrency.NewElection(sess, "/planner/leader")
	if err := el.Campaign(ctx, p.node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer el.Resign(context.WithoutCancel(ctx))

	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errc := make(chan error, 1)
	go func() { errc <- p.placeAll(wctx) }()
	select {
	case <-sess.Done():
		return fmt.Errorf("session ended")
	case err := <-errc:
		return err
	}
}

func (p *Planner) placeAll(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case job := <-p.jobs:
			if err := p.store(ctx, p.pick(job)); err != nil {
				return err
			}
		}
	}
}

func (p *Planner) store(ctx context.Context, pl placement) error {
	b, err := json.Marshal(pl)
	if err != nil {
		return err
	}
	_, err = p.cli.Put(ctx, "/planner/placements/"+pl.Job, string(b)) // want:C
	return err
}
