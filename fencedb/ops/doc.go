// Package ops shows operators who owns what, and which writes were rejected: one list of
// the resources of a namespace, for people and for programs.
package ops
