package ud12

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const freshness = 5 * time.Second

// lockMeta is the content of a lock file on a shared file system.
type lockMeta struct {
	Owner   string    `json:"owner"`
	Created time.Time `json:"created,omitempty"`
	Updated time.Time `json:"updated,omitempty"`
}

type FileStorage struct{ root, host string }

func (s *FileStorage) lockFile(name string) string {
	return filepath.Join(s.root, "locks", name+".lock")
}

// Lock waits for the file; one that is not refreshed any more is stale.
func (s *FileStorage) Lock(ctx context.Context, name string) error { // may:C|M
	file := s.lockFile(name)
	for {
		err := create(file, s.host)
		if err == nil {
			return nil
		}
		if !os.IsExist(err) {
			return fmt.Errorf("create lock file: %w", err)
		}
		raw, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		var meta lockMeta
		if err := json.Unmarshal(raw, &meta); err != nil {
			return fmt.Errorf("decode lock file: %w", err)
		}
		if stale(meta) { // may:T
			if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func stale(meta lockMeta) bool {
	ref := meta.Updated
	if ref.IsZero() {
		ref = meta.Created
	}
	return time.Since(ref) > 2*freshness // want:T
}

func create(file, host string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	now := time.Now() // may:T
	if err := json.NewEncoder(f).Encode(lockMeta{Owner: host, Created: now, Updated: now}); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}
