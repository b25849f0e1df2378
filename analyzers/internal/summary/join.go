package summary

import (
	"slices"

	"github.com/fencelint/fence/analyzers/internal/authority"
)

// Join sums up two implementations of one interface method: what both do. nil
// stands for none yet.
func Join(a, b *Func) *Func {
	if a == nil {
		c := *b
		c.joined = true
		return &c
	}
	out := &Func{Reads: a.Reads || b.Reads, Locks: a.Locks || b.Locks, Compares: a.Compares || b.Compares, joined: true}
	if len(a.Writes) > 0 && len(b.Writes) > 0 {
		out.Writes = a.Writes
	}
	for _, p := range a.Proofs {
		if slices.ContainsFunc(b.Proofs, func(q authority.Proof) bool { return q.Result == p.Result && q.Mode == p.Mode }) {
			out.Proofs = append(out.Proofs, p)
		}
	}
	for _, i := range a.Ages {
		if slices.Contains(b.Ages, i) {
			out.Ages = append(out.Ages, i)
		}
	}
	for _, i := range a.OwnerArgs {
		if slices.Contains(b.OwnerArgs, i) {
			out.OwnerArgs = append(out.OwnerArgs, i)
		}
	}
	if a.Text != nil && b.Text != nil && *a.Text == *b.Text {
		out.Text = a.Text
	}
	if len(a.Returns) > 0 && len(b.Returns) > 0 {
		out.Returns = slices.Concat(a.Returns, b.Returns)
		slices.Sort(out.Returns)
		out.Returns = slices.Compact(out.Returns)
	}
	if len(a.Sent) > 0 && len(b.Sent) > 0 { // one dialect each
		out.Sent = slices.Clone(a.Sent)
		for _, s := range b.Sent {
			i := slices.IndexFunc(out.Sent, func(o Sent) bool { return o.Text == s.Text })
			switch {
			case i >= 0:
				out.Sent[i].also = append(slices.Clip(out.Sent[i].also), s.Places()...)
			case len(out.Sent) < maxSent:
				out.Sent = append(out.Sent, s)
			}
		}
	}
	if a.Clock == b.Clock {
		out.Clock = a.Clock
	}
	for _, x := range a.Binds {
		if slices.ContainsFunc(b.Binds, func(y Bind) bool { return x.Param == y.Param }) {
			out.Binds = append(out.Binds, x)
		}
	}
	return out
}
