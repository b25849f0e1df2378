// Package wallclockexpiry finds comparisons of the local clock with an expiry of
// ownership that another process wrote.
//
// Which times are local is decided by package clock, which values are stored by
// package record, and what is said of them by package verdict; this package holds
// the documentation and the name.
package wallclockexpiry
