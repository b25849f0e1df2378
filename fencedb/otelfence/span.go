package otelfence

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/fencelint/fence/fencedb"
)

// The attributes of spans and events. Those of OpenTelemetry's conventions keep their names.
const (
	keyNamespace = attribute.Key("fence.namespace")
	keyResource  = attribute.Key("fence.resource")
	keyToken     = attribute.Key("fence.token")
	keyGrant     = attribute.Key("fence.grant.id")
	keyCurrent   = attribute.Key("fence.token.current")
	keyOverrun   = attribute.Key("fence.overrun")
	keyOperation = attribute.Key("db.operation.name")
	keyTable     = attribute.Key("db.collection.name")
	keyError     = attribute.Key("error.type")
)

func granted(ctx context.Context, g fencedb.GrantReceipt) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	about := of(g.Namespace, g.Lease)
	span.SetAttributes(about...)
	span.AddEvent("fence.granted", trace.WithAttributes(append(about, keyResource.String(g.Lease.Token().Resource()))...))
}

// rejected leaves out what nothing was decided about: the database's error is the caller's.
func rejected(ctx context.Context, d fencedb.Decision) {
	if d.Result == fencedb.Accepted || d.Result == fencedb.Failed {
		return
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	about := []attribute.KeyValue{
		keyResource.String(d.Resource), keyToken.Int64(d.Presented), keyGrant.String(d.Grant),
		keyOperation.String(d.Operation), keyTable.String(d.Table), keyError.String(string(d.Result)),
	}
	if d.Current != 0 {
		about = append(about, keyCurrent.Int64(d.Current))
	}
	span.AddEvent("fence.rejected", trace.WithAttributes(about...))
}

func lost(ctx context.Context, e fencedb.EndReceipt) {
	if e.Reason == "" {
		return
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	about := append(of(e.Namespace, e.Lease), keyResource.String(e.Lease.Token().Resource()),
		keyError.String(string(e.Reason)), keyOverrun.Bool(e.WorkStillRunning))
	span.AddEvent("fence.lost", trace.WithAttributes(about...))
}

// of returns what says which grant it is about.
func of(namespace string, l *fencedb.Lease) []attribute.KeyValue {
	t := l.Token()
	return []attribute.KeyValue{keyNamespace.String(namespace), keyToken.Int64(t.Value()), keyGrant.String(t.Grant())}
}
