package uf27

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/corpus/cases/uf27/leader"
	"example.com/corpus/cases/uf27/physical"
)

var ErrStandby = errors.New("node is in standby")

// System serves writes while this node is the active one.
type System struct {
	who   *leader.Candidate
	store physical.Backend
}

type policy struct {
	Name  string   `json:"name"`
	Rules []string `json:"rules"`
}

func (s *System) SetPolicy(ctx context.Context, p policy) error {
	if !s.who.IsActive() {
		return ErrStandby
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode policy: %w", err)
	}
	return s.store.Put(ctx, "sys/policy/"+p.Name, raw) // may:C|W
}

func (s *System) RenamePolicy(ctx context.Context, old string, p policy) error {
	if !s.who.IsActive() {
		return ErrStandby
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode policy: %w", err)
	}
	return s.store.Transaction(ctx, []physical.Op{ // may:C|W
		{Delete: true, Key: "sys/policy/" + old},
		{Key: "sys/policy/" + p.Name, Value: raw},
	})
}
