package hc17

import (
	"context"
	"database/sql"
	"log"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

type GC struct {
	db *sql.DB
	le *leaderelection.LeaderElector
}

func (g *GC) Loop(ctx context.Context) {
	t := time.NewTicker(30 * time.Second)
	defer t.Stop()
	for range t.C {
		if ctx.Err() != nil {
			return
		}
		if !g.le.IsLeader() {
			continue
		}
		if err := g.collect(ctx); err != nil {
			log.Printf("gc: %v", err)
		}
	}
}

func (g *GC) collect(ctx context.Context) error {
	rows, err := g.db.QueryContext(ctx, `SELECT digest FROM blobs WHERE refs = 0`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var dead []string
	for rows.Next() {
		var d string
		if err := rows.Scan(&d); err != nil {
			return err
		}
		dead = append(dead, d)
	}
	for _, d := range dead {
		if _, err := g.db.ExecContext(ctx, `DELETE FROM blobs WHERE digest = $1`, d); err != nil { // want:C
			return err
		}
	}
	return rows.Err()
}
