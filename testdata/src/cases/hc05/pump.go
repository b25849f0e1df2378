package hc05

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"example.com/corpus/cases/hc05/repo"
)

type Pump struct {
	cli     *clientv3.Client
	node    string
	offsets repo.Offsets
	next    func(ctx context.Context) (stream string, pos int64, err error)
}

func NewPump(cli *clientv3.Client, node string, d *repo.Dynamo) *Pump {
	return &Pump{cli: cli, node: node, offsets: d}
}

func (p *Pump) Run(ctx context.Context) error {
	s, err := concurrency.NewSession(p.cli)
	if err != nil {
		return err
	}
	defer s.Close()
	e := concurrency.NewElection(s, "/pump/leader")
	if err := e.Campaign(ctx, p.node); err != nil {
		return err
	}
	defer func() { _ = e.Resign(context.Background()) }()
	for {
		select {
		case <-s.Done():
			return context.Canceled
		default:
		}
		stream, pos, err := p.next(ctx)
		if err != nil {
			return err
		}
		if err := p.offsets.Advance(ctx, stream, pos); err != nil { // want:C
			return err
		}
	}
}
