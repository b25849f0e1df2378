// Package ka06 prunes a backup repository that several hosts share.
package ka06

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/google/uuid"
)

// Storage is one of the supported backends: local, sftp, rest.
type Storage interface {
	List(ctx context.Context, dir string) ([]string, error)
	Save(ctx context.Context, name string, data []byte) error
	Remove(ctx context.Context, name string) error
}

var errLocked = errors.New("repository is already locked")

type lockDoc struct {
	Hostname string `json:"hostname"`
	PID      int    `json:"pid"`
}

type Repo struct {
	st   Storage
	lock string
}

func (r *Repo) lockExclusive(ctx context.Context) error {
	host, _ := os.Hostname()
	raw, err := json.Marshal(lockDoc{Hostname: host, PID: os.Getpid()})
	if err != nil {
		return err
	}
	r.lock = path.Join("locks", uuid.NewString())
	if err := r.st.Save(ctx, r.lock, raw); err != nil {
		return err
	}
	names, err := r.st.List(ctx, "locks")
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return errors.Join(errLocked, r.st.Remove(ctx, r.lock)) // may:C|W
	}
	return nil
}

// lockStillListed tells whether nobody has removed the lock as stale.
func (r *Repo) lockStillListed(ctx context.Context) bool {
	names, err := r.st.List(ctx, "locks")
	if err != nil {
		return false
	}
	for _, n := range names {
		if strings.HasSuffix(r.lock, n) {
			return true
		}
	}
	return false
}

// Prune replaces the index by one without the unused packs.
func (r *Repo) Prune(ctx context.Context, packs map[string]bool) error { // may:M
	if err := r.lockExclusive(ctx); err != nil {
		return err
	}
	defer func() { _ = r.st.Remove(ctx, r.lock) }() // may:C|W
	raw, err := json.Marshal(packs)
	if err != nil {
		return err
	}
	if !r.lockStillListed(ctx) {
		return fmt.Errorf("lock %s was removed", r.lock)
	}
	return r.st.Save(ctx, "index/current", raw) // want:C|W
}
