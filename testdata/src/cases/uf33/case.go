package uf33

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/consul/api"
)

var ErrNoPrimary = errors.New("no primary")

// Node is one replica of a database cluster.
type Node struct {
	kv   *api.KV
	key  string // <cluster>/primary
	name string
}

func NewNode(c *api.Client, cluster string) (*Node, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("host name: %w", err)
	}
	return &Node{kv: c.KV(), key: cluster + "/primary", name: h}, nil
}

// primary returns the advertised name and the endpoint after it.
func (n *Node) primary(ctx context.Context) (name, endpoint string, err error) {
	pair, _, err := n.kv.Get(n.key, (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	if err != nil {
		return "", "", fmt.Errorf("get %s: %w", n.key, err)
	}
	if pair == nil {
		return "", "", ErrNoPrimary
	}
	name, endpoint, _ = strings.Cut(string(pair.Value), "@")
	return name, endpoint, nil
}

// Demote gives the role up before a planned restart. Between the look and the
// delete the key may have gone to the next primary.
func (n *Node) Demote(ctx context.Context) error {
	cur, _, err := n.primary(ctx)
	if errors.Is(err, ErrNoPrimary) {
		return nil
	}
	if err != nil {
		return err
	}
	if cur != n.name {
		return nil
	}
	if _, err := n.kv.Delete(n.key, (&api.WriteOptions{}).WithContext(ctx)); err != nil { // want:C|W
		return fmt.Errorf("delete %s: %w", n.key, err)
	}
	return nil
}
