// Package worker is the process under test: it holds leases of some resources, one after the
// other, writes under them, goes on writing when it should not any more, and tells of all that
// on its standard output, a line of JSON for each event.
package worker

import "time"

// A Config says what a worker does. It comes as JSON.
type Config struct {
	Name      string        // of this process, unique in a run
	Store     string        // a fencedb.Dialect, or Etcd
	Sources   []string      // the data source, or etcd's endpoints
	Resources []string      // each is wanted by a goroutine of its own
	TTL       time.Duration // of the leases
	Apart     bool          // guards are raised after the grant rather than in it
	Seed      uint64        // of what the worker does
	Rate      float64       // seconds that its clock counts in a second
	Unguarded bool          // databases only: its writes compare no token, as they must
}

// Etcd is the name of the store that is no database.
const Etcd = "etcd"

// Tables, and keys of etcd, that a run uses besides those of the leases.
const (
	Guards  = "takeover_guards"
	History = "takeover_history"
	Prefix  = "takeovers" // of the guards in etcd
)
