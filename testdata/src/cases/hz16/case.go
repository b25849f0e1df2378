package hz16

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"
)

// Relay moves events from the outbox table to JetStream. Rows are locked while
// they are published; two relays never see the same rows.
type Relay struct {
	pool  *pgxpool.Pool
	js    jetstream.JetStream
	batch int
	every time.Duration
}

type event struct {
	ID      int64           `db:"id"`
	Topic   string          `db:"topic"`
	Payload json.RawMessage `db:"payload"`
}

func (r *Relay) Run(ctx context.Context) error {
	for {
		n, err := r.flush(ctx)
		if err != nil {
			slog.Error("outbox flush", "err", err)
		}
		if n == r.batch {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.every):
		}
	}
}

func (r *Relay) flush(ctx context.Context) (int, error) {
	var sent []int64
	err := pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT id, topic, payload FROM outbox
			WHERE published_at IS NULL
			ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`, r.batch)
		if err != nil {
			return err
		}
		events, err := pgx.CollectRows(rows, pgx.RowToStructByName[event])
		if err != nil {
			return err
		}
		for _, e := range events {
			_, err := r.js.Publish(ctx, e.Topic, e.Payload, jetstream.WithMsgID(fmt.Sprintf("outbox-%d", e.ID)))
			if err != nil {
				break // the rest stays for the next round
			}
			sent = append(sent, e.ID)
		}
		_, err = tx.Exec(ctx, `UPDATE outbox SET published_at = now() WHERE id = ANY($1)`, sent)
		return err
	})
	return len(sent), err
}

// Trim deletes what was published a week ago.
func (r *Relay) Trim(ctx context.Context) error {
	_, err := r.pool.Exec(ctx, `DELETE FROM outbox WHERE published_at < $1`, time.Now().AddDate(0, 0, -7))
	return err
}
