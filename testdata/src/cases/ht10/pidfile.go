package ht10

import (
	"encoding/json"
	"errors"
	"os"
	"time"
)

// info is the content of the lock file on the shared volume.
type info struct {
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Renewed int64  `json:"renewed"` // unix seconds
}

var ErrInUse = errors.New("directory is in use by another host")

const ttl = 90

// Open takes the lock file over when it was not renewed for a while.
func Open(path string) error {
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		var li info
		if err := json.Unmarshal(raw, &li); err != nil {
			return err
		}
		if nowUnix()-li.Renewed < ttl { // want:T
			return ErrInUse
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	raw, err = json.Marshal(info{Host: host, PID: os.Getpid(), Renewed: nowUnix()})
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644) // may:C
}

func nowUnix() int64 { return time.Now().Unix() }
