// Package fencedb is what a program links to write under a lease: tokens, and
// the errors of writes that compare them.
//
// A lease decides when ownership may move. A token lets the store reject an
// owner whose ownership has moved: every grant has a larger one, every write
// carries it, and the store refuses a smaller one than it has seen.
//
// The module has no requirements outside the standard library.
package fencedb
