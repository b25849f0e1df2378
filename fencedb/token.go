// Package fencedb is the runtime of fence.
package fencedb
