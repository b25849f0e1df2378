// Package protocol is what the parties to a lease do, without goroutines, clocks and I/O:
// the holder ([Holder]), the coordinator's record of a lease ([Record]), the counter its
// tokens come from ([Allocator]), and the guard that compares them ([Guard]).
//
// Each is a value, and each step a function of the value and of what happened, so the same
// steps run in production, under package fencedb, and in the laboratory, under a virtual
// clock. What a holder does is data: [Rules] is the table of its transitions, from which
// docs/renewal.md is printed.
//
// There are two clocks and nothing here compares one with the other. An [Instant] is of the
// holder's own clock, a [StoreTime] of the coordinator's.
package protocol
