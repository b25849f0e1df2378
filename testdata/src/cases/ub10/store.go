package ub10

import (
	"context"
	"strconv"
)

func (r *Roller) views(ctx context.Context, site, day string) (map[string]int64, error) {
	raw, err := r.rdb.HGetAll(ctx, "views:"+site+":"+day).Result()
	if err != nil {
		return nil, err
	}
	out := make(map[string]int64, len(raw))
	for page, n := range raw {
		v, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			continue
		}
		out[page] = v
	}
	return out, nil
}

func (r *Roller) store(ctx context.Context, site, day string, sum, top int64) error {
	return r.rdb.HSet(ctx, "rollup:"+site, day+":sum", sum, day+":top", top).Err() // want:C
}
