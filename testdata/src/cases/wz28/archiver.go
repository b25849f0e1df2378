package wz28

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

type manifest struct {
	Segments []string `json:"segments"`
	Last     uint64   `json:"last"`
}

// Archiver ships the log of one primary. Only the head knows its generation.
type Archiver struct {
	bucket Bucket
	head   manifest
	gen    int64

	//fence:write wal
	publish func(ctx context.Context, name string, body []byte) error
}

func New(base string) *Archiver {
	a := &Archiver{bucket: &httpBucket{base: base, hc: http.DefaultClient}}
	a.publish = a.put
	return a
}

func (a *Archiver) put(ctx context.Context, name string, body []byte) error {
	return a.bucket.Upload(ctx, name, bytes.NewReader(body)) // may:W
}

// Ship stores a segment and then moves the head, which is compared.
func (a *Archiver) Ship(ctx context.Context, seg string, last uint64, body []byte) error {
	if err := a.publish(ctx, "wal/"+seg, body); err != nil { // want:W
		return fmt.Errorf("ship %s: %w", seg, err)
	}
	next := manifest{Segments: append(a.head.Segments[:len(a.head.Segments):len(a.head.Segments)], seg), Last: last}
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	gen, err := a.bucket.UploadIfGeneration(ctx, "wal/head", bytes.NewReader(raw), a.gen)
	if err != nil {
		return fmt.Errorf("move head: %w", err)
	}
	a.head, a.gen = next, gen
	return nil
}

// Trim removes segments that this process thinks are no longer needed.
func (a *Archiver) Trim(ctx context.Context, keep int) error {
	for len(a.head.Segments) > keep {
		if err := a.bucket.Remove(ctx, "wal/"+a.head.Segments[0]); err != nil { // want:W
			return err
		}
		a.head.Segments = a.head.Segments[1:]
	}
	return nil
}
