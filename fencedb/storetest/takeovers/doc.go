// Package takeovers runs processes that hold leases on real servers, stops, kills and cuts
// them off, and judges what they did: its tests are the fault runs of package fencedb.
//
//   - journal: what a worker tells of itself, and what the store keeps of its writes
//   - worker: the process under test, which holds leases and writes under them, also when it
//     should not any more
//   - proxy: the network between a worker and its store
//   - server: PostgreSQL, MariaDB and etcd as processes of their own
//   - judge: whether tokens went back, leases overlapped, or a stale write was accepted
//
// The tests start the workers, draw the faults from a seed and ask the judge. They need Linux.
package takeovers
