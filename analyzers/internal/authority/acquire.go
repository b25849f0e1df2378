package authority

// This file finds locks that are taken by a conditional write of a store: the
// record is created only if it is not there.

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/sink"
)

// created: a conditional put of a lock's object or item, or the creation of a
// Kubernetes Lease, that did not fail.
func (r *Reader) created(c *ssa.Call) (Evidence, bool) {
	spec, ok := r.Sink.Spec(&c.Call)
	if !ok || spec.Input < 0 {
		return Evidence{}, false
	}
	site := r.Sink.Site(c)
	if site == nil {
		return Evidence{}, false
	}
	ev := Evidence{Kind: Acquired, Pos: c.Pos(), What: callName(&c.Call), Handle: site.Handle}
	switch spec.Store {
	case sink.S3:
		return ev, spec.Op == sink.Put && site.Judge == sink.Compared && slices.ContainsFunc(site.Texts, lease.IsLockKey)
	case sink.DynamoDB:
		names := slices.Concat(site.Names, site.Texts)
		for _, v := range r.Sink.FieldValues(site, "Item") {
			names = append(names, r.Sink.MapKeys(v)...)
		}
		return ev, spec.Op == sink.Put && site.Judge == sink.Compared && slices.ContainsFunc(names, lease.IsLockKey)
	case sink.Kubernetes:
		return ev, spec.Verb == "Create" && site.Object != nil && ir.IsNamed(site.Object.Type(), "k8s.io/api/coordination/v1", "Lease")
	}
	return Evidence{}, false
}

// succeeded: the field Succeeded of an etcd transaction that puts a lock's key
// if it is absent.
func (r *Reader) succeeded(fa *ssa.FieldAddr) (Evidence, bool) {
	f := ir.FieldOf(fa.X.Type(), fa.Field)
	if f == nil || f.Name() != "Succeeded" {
		return Evidence{}, false
	}
	var ev Evidence
	found := false
	r.Sink.Trace.Walk(fa.X, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || out != nil {
			return nil, out != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != etcdPath || obj.Name() != "Commit" {
			return nil, false
		}
		if key, ok := r.putsLock(sink.Receiver(&c.Call)); ok {
			ev = Evidence{Kind: Acquired, Pos: c.Pos(), What: "the transaction on " + key, Key: key, Handle: sink.Receiver(&c.Call)}
			found = true
		}
		return nil, true
	})
	return ev, found
}

const etcdPath = "go.etcd.io/etcd/client/v3"

// putsLock tells whether a transaction under construction compares a key's
// creation and puts a lock's key.
func (r *Reader) putsLock(txn ssa.Value) (key string, ok bool) {
	compares := false
	r.Sink.Trace.Walk(txn, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, isCall := v.(*ssa.Call)
		if !isCall || out != nil {
			return nil, out != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != etcdPath {
			return nil, false
		}
		switch obj.Name() {
		case "OpPut":
			for _, t := range r.Sink.Text.Texts(c.Call.Args[0]) {
				if lease.IsLockKey(t) {
					key, ok = t, true
				}
			}
			return nil, true
		case "CreateRevision", "Version":
			compares = true
			return nil, true
		}
		next := slices.Clone(c.Call.Args)
		for _, a := range c.Call.Args {
			next = append(next, r.Sink.Elements(a)...)
		}
		if c.Call.IsInvoke() {
			next = append(next, c.Call.Value)
		}
		return next, true
	})
	return key, ok && compares
}
