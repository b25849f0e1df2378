// Package fencedbtest helps to test programs that use fencedb, and stores that implement its
// interfaces.
//
// # Programs
//
// [Token], [Granted] and [Sequence] make tokens of grants that nobody made.
//
// [NewCoordinator] is a coordinator in memory, and [NewGuard] a guard. What becomes of each
// request and of its answer is for the test to say: a [FaultPlan] delays or loses either one.
// Time is of package time, so a test inside a testing/synctest bubble lets a lease of a
// minute expire in no time.
//
// # Stores
//
// Whoever writes a [fencedb.Coordinator] tests it by [RunCoordinator], and a place where
// tokens are compared by [RunGuard]. They look only at what callers see, are run on every
// store of fence itself, and are themselves tested by coordinators and guards with a fault
// each. A store may skip what it has no hook for; to pass with skipped checks is to promise
// less.
package fencedbtest
