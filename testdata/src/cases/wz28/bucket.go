package wz28

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Bucket is what the archiver needs of an object store.
type Bucket interface {
	Upload(ctx context.Context, name string, r io.Reader) error
	UploadIfGeneration(ctx context.Context, name string, r io.Reader, gen int64) (int64, error)
	Remove(ctx context.Context, name string) error
}

type httpBucket struct {
	base string
	hc   *http.Client
}

func (b *httpBucket) do(ctx context.Context, method, name string, r io.Reader, q url.Values) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.base+"/"+url.PathEscape(name)+"?"+q.Encode(), r)
	if err != nil {
		return nil, err
	}
	resp, err := b.hc.Do(req) // may:E
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s", method, name, resp.Status)
	}
	return resp, nil
}

func (b *httpBucket) Upload(ctx context.Context, name string, r io.Reader) error {
	_, err := b.do(ctx, http.MethodPut, name, r, nil)
	return err
}

func (b *httpBucket) UploadIfGeneration(ctx context.Context, name string, r io.Reader, gen int64) (int64, error) {
	resp, err := b.do(ctx, http.MethodPut, name, r, url.Values{"ifGenerationMatch": {strconv.FormatInt(gen, 10)}})
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(resp.Header.Get("x-goog-generation"), 10, 64)
}

func (b *httpBucket) Remove(ctx context.Context, name string) error {
	_, err := b.do(ctx, http.MethodDelete, name, bytes.NewReader(nil), nil)
	return err
}
