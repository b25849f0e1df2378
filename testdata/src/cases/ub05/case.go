package ub05

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/hashicorp/consul/api"
)

// Collector bills metered usage. Instances contend for a Consul key.
type Collector struct {
	consul  *api.Client
	db      *sql.DB
	node    string
	session string
}

const leaderKey = "service/metering/leader"

func (c *Collector) Start(ctx context.Context) error {
	id, _, err := c.consul.Session().Create(&api.SessionEntry{
		Name: "metering", TTL: "20s", Behavior: api.SessionBehaviorRelease,
	}, nil)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	c.session = id
	go func() {
		if err := c.consul.Session().RenewPeriodic("20s", id, nil, ctx.Done()); err != nil {
			log.Printf("metering: renew: %v", err)
		}
	}()
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		if err := c.round(ctx); err != nil {
			log.Printf("metering: %v", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

func (c *Collector) round(ctx context.Context) error {
	won, _, err := c.consul.KV().Acquire(&api.KVPair{
		Key: leaderKey, Value: []byte(c.node), Session: c.session,
	}, nil)
	switch {
	case err != nil:
		return err
	case !won:
		return nil
	}
	rows, err := c.db.QueryContext(ctx, `SELECT account, sum(units) FROM usage_event WHERE NOT billed GROUP BY account`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var account string
		var units int64
		if err := rows.Scan(&account, &units); err != nil {
			return err
		}
		_, err := c.db.ExecContext(ctx, `UPDATE invoice_draft SET units = units + $2 WHERE account = $1`, account, units) // want:C
		if err != nil {
			return fmt.Errorf("account %s: %w", account, err)
		}
	}
	return rows.Err()
}
