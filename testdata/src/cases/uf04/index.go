package uf04

import (
	"context"
	"encoding/json"
	"fmt"
)

type pack struct {
	ID    string   `json:"id"`
	Blobs []string `json:"blobs"`
}

// RewriteIndex runs after a prune; a prune that somebody unlocked with force
// may overwrite the index of the next one.
func (r *Repository) RewriteIndex(ctx context.Context, packs []pack) error {
	data, err := json.Marshal(packs)
	if err != nil {
		return fmt.Errorf("encode index: %w", err)
	}
	if err := r.onlyMine(ctx); err != nil {
		return err
	}
	return r.be.Save(ctx, Handle{IndexFile, "current"}, data) // want:C|W
}
