// Package unfencedwrite finds writes to protected tables and resources that
// neither compare a fence nor run under a guard in the same atomic step.
//
// What is protected is decided by package resource, what a statement compares and
// which locks its transaction holds by package verdict; this package holds the
// documentation and the name.
package unfencedwrite
