package ue14

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
)

type indexEntry struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Indexer rebuilds the repository index from the chart objects.
type Indexer struct {
	kube   kubernetes.Interface
	le     *leaderelection.LeaderElector
	s3     *s3.Client
	bucket string
	ns     string
}

func (x *Indexer) Run(ctx context.Context) {
	go x.le.Run(ctx)
	t := time.NewTicker(30 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if !x.le.IsLeader() {
			slog.Debug("not leading, index is left alone")
			continue
		}
		if err := x.publish(ctx); err != nil {
			slog.Error("publish index", "err", err)
		}
	}
}

func (x *Indexer) publish(ctx context.Context) error {
	cms, err := x.kube.CoreV1().ConfigMaps(x.ns).List(ctx, metav1.ListOptions{LabelSelector: "kind=chart"})
	if err != nil {
		return fmt.Errorf("list charts: %w", err)
	}
	entries := make([]indexEntry, 0, len(cms.Items))
	for _, cm := range cms.Items {
		entries = append(entries, indexEntry{Name: cm.Name, Version: cm.Data["version"], Digest: cm.Data["digest"]})
	}
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if err := json.NewEncoder(zw).Encode(entries); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	_, err = x.s3.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket:          aws.String(x.bucket),
		Key:             aws.String("index.json.gz"),
		Body:            bytes.NewReader(buf.Bytes()),
		ContentEncoding: aws.String("gzip"),
	})
	return err
}
