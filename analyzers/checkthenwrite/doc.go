// Package checkthenwrite finds writes that are reached only after an ownership
// check which the write itself does not repeat.
//
// What counts as a check is decided by package authority, what as a write by
// package sink, and what is said of them by package verdict; this package holds
// the documentation and the name.
package checkthenwrite
