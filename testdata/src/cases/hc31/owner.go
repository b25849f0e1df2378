package hc31

import (
	"context"
	"os"

	"github.com/hashicorp/consul/api"
)

// Holder keeps an address under a key while this host is named in it.
type Holder struct {
	kv   *api.KV
	host string
}

func NewHolder(c *api.Client) *Holder {
	h := os.Getenv("HOSTNAME")
	return &Holder{kv: c.KV(), host: h}
}

// Withdraw deletes the lock key if this host is in it, without the index.
func (h *Holder) Withdraw(ctx context.Context) error {
	p, _, err := h.kv.Get("vip/lock", (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	if err != nil || p == nil {
		return err
	}
	if string(p.Value) == h.host {
		_, err = h.kv.Delete("vip/lock", nil) // want:C
	}
	return err
}
