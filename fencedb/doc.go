// Package fencedb is what a program links to write under a lease: tokens, guard rows
// that reject the writes of former holders, and the errors of writes that compare.
//
// A lease decides when ownership may move. A token lets the store reject an
// owner whose ownership has moved: every grant has a larger one, every write
// carries it, and the store refuses a smaller one than it has seen.
//
// A guard row holds the largest token of a resource. A new holder raises it before it
// starts to work ([GuardTable.Raise]), and every write locks and compares it in its own
// transaction ([GuardTable.InScope]).
//
// The module has no requirements outside the standard library.
package fencedb
