// Package lab plays leases and guards under faults, in virtual time: one thread, one seed,
// the same bytes on every machine.
//
// Workers run the very steps that production runs: [protocol.Holder] by [protocol.Rules], the
// coordinator's [protocol.Record] and [protocol.Allocator], and the resource's
// [protocol.Guard]. The lab is what lies between them: clocks that are wrong, a network that
// delays, loses, repeats and reorders, processes that stand still, stores that fail over.
//
// A [Scenario] says who takes part and what may go wrong; a seed decides the rest. A run is
// judged by [Invariants], and by markers: what has to have happened at least once for a run to
// have shown anything.
package lab
