package hn53

import (
	"context"
	"errors"
	"os"

	"github.com/jmoiron/sqlx"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type Shard struct {
	ID    int64  `db:"id"`
	Owner string `db:"owner"`
	Pos   int64  `db:"pos"`
}

var errOther = errors.New("owned by another host")

type Store struct {
	x    *sqlx.DB
	g    *gorm.DB
	host string
}

func New(x *sqlx.DB, g *gorm.DB) *Store {
	h, _ := os.Hostname()
	return &Store{x, g, h}
}

func (s *Store) Advance(ctx context.Context, id, pos int64) error {
	tx := s.x.MustBeginTx(ctx, nil)
	defer tx.Rollback()
	var sh Shard
	if err := tx.GetContext(ctx, &sh, tx.Rebind(`SELECT * FROM shards WHERE id = ? FOR UPDATE`), id); err != nil {
		return err
	}
	if sh.Owner != s.host {
		return errOther
	}
	sh.Pos = pos
	if _, err := tx.NamedExecContext(ctx, `UPDATE shards SET pos = :pos WHERE id = :id`, sh); err != nil {
		return err
	}
	return tx.Commit()
}

// AdvanceORM: the builder adds FOR UPDATE.
func (s *Store) AdvanceORM(ctx context.Context, id, pos int64) error {
	tx := s.g.WithContext(ctx).Begin()
	defer tx.Rollback()
	var sh Shard
	err := tx.Clauses(clause.Locking{Strength: "UPDATE", Options: "NOWAIT"}).Where("id = ?", id).Take(&sh).Error
	if err != nil {
		return err
	}
	if sh.Owner != s.host {
		return errOther
	}
	if err := tx.Model(&sh).Update("pos", pos).Error; err != nil {
		return err
	}
	return tx.Commit().Error
}
