package hc32

import (
	"context"
	"time"

	"github.com/go-redsync/redsync/v4"
	rsgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/jmoiron/sqlx"
	"github.com/redis/go-redis/v9"
)

type point struct {
	Sensor string    `db:"sensor"`
	At     time.Time `db:"at"`
	V      float64   `db:"v"`
}

type Downsampler struct {
	db  *sqlx.DB
	mux *redsync.Mutex
}

func New(db *sqlx.DB, c redis.UniversalClient) *Downsampler {
	rs := redsync.New(rsgoredis.NewPool(c))
	return &Downsampler{db: db, mux: rs.NewMutex("downsample", redsync.WithExpiry(5*time.Minute))}
}

func (d *Downsampler) Pass(ctx context.Context) error {
	if err := d.mux.LockContext(ctx); err != nil {
		return err
	}
	defer d.mux.Unlock()
	var ps []point
	if err := d.db.SelectContext(ctx, &ps, `SELECT sensor, date_trunc('hour', at) AS at, avg(v) AS v FROM raw GROUP BY 1, 2`); err != nil {
		return err
	}
	return d.replace(ctx, ps)
}

// replace uses a transaction, but the lock is not part of it.
func (d *Downsampler) replace(ctx context.Context, ps []point) (err error) {
	tx, err := d.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
			return
		}
		err = tx.Commit()
	}()
	if _, err = tx.ExecContext(ctx, `DELETE FROM hourly`); err != nil { // want:C
		return err
	}
	_, err = tx.NamedExecContext(ctx, `INSERT INTO hourly (sensor, at, v) VALUES (:sensor, :at, :v)`, ps) // may:C
	return err
}
