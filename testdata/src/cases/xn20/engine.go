package xn20

import (
	"context"
	"database/sql"
	"errors"

	sq "github.com/Masterminds/squirrel"
	"gorm.io/gorm"
)

var ErrTakenOver = errors.New("flow was taken over by another engine")

type Node struct {
	ID         int64 `gorm:"primaryKey"`
	Flow       int64
	Status     string
	Result     []byte
	FenceToken int64
}

func (Node) TableName() string { return "flow_node" }

// Engine runs the flows of a partition.
type Engine struct {
	orm   *gorm.DB
	db    *sql.DB
	token int64
}

// owned is the scope of everything an engine changes.
func owned(token int64) func(*gorm.DB) *gorm.DB {
	return func(db *gorm.DB) *gorm.DB { return db.Where("fence_token <= ?", token) }
}

func (e *Engine) Finish(ctx context.Context, node int64, result []byte) error {
	res := e.orm.WithContext(ctx).Model(&Node{}).
		Scopes(owned(e.token)).
		Where("id = ?", node).
		Updates(map[string]any{"status": "done", "result": result, "fence_token": e.token})
	if res.Error == nil && res.RowsAffected == 0 {
		return ErrTakenOver
	}
	return res.Error
}

// Plan adds nodes; new rows collide with nobody.
func (e *Engine) Plan(ctx context.Context, nodes []Node) error {
	for i := range nodes {
		nodes[i].FenceToken = e.token
	}
	return e.orm.WithContext(ctx).Create(&nodes).Error
}

// fence is the builder's way to say the same as owned.
func (e *Engine) fence(b sq.UpdateBuilder) sq.UpdateBuilder {
	return b.Set("fence_token", e.token).Where(sq.Expr("fence_token <= ?", e.token))
}

func (e *Engine) SetStatus(ctx context.Context, flow int64, status string, onlyRunning bool) error {
	b := sq.Update("flow").PlaceholderFormat(sq.Dollar).
		Set("status", status).
		Where(sq.Eq{"id": flow})
	if onlyRunning {
		b = b.Where(sq.NotEq{"status": []string{"done", "failed"}})
	}
	res, err := e.fence(b).RunWith(e.db).ExecContext(ctx)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrTakenOver
	}
	return err
}
