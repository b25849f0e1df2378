package xn12

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/corpus/cases/xn12/db"
)

var ErrRedelivered = errors.New("message was delivered again")

// Broker hands messages out, each delivery with a number of its own.
type Broker struct {
	db *sql.DB
	q  *db.Queries
}

type Message struct {
	ID       int64
	Delivery int32
	Body     []byte
}

// Publish stores all messages of a request or none.
func (b *Broker) Publish(ctx context.Context, topic, request string, bodies ...[]byte) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	q := b.q.WithTx(tx)
	for i, body := range bodies {
		key := sql.NullString{String: fmt.Sprintf("%s/%d", request, i), Valid: true}
		if _, err := q.Enqueue(ctx, db.EnqueueParams{Topic: topic, Body: body, Dedupe: key}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (b *Broker) Receive(ctx context.Context, topic string) (*Message, error) {
	r, err := b.q.Receive(ctx, topic)
	if err != nil {
		return nil, err
	}
	return &Message{ID: r.ID, Delivery: r.Delivery, Body: r.Body}, nil
}

func (b *Broker) Ack(ctx context.Context, m *Message) error {
	n, err := b.q.Ack(ctx, db.AckParams{ID: m.ID, Delivery: m.Delivery})
	if err == nil && n == 0 {
		err = ErrRedelivered
	}
	return err
}

// DeleteTopic is an administrator's call.
func (b *Broker) DeleteTopic(ctx context.Context, topic string) (int64, error) {
	return b.q.DropTopic(ctx, topic)
}

// Retention deletes what has been done for a week.
func (b *Broker) Retention(ctx context.Context) error {
	_, err := b.q.Sweep(ctx, 7)
	return err
}
