// Package etcdlease is a [fencedb.Coordinator] on an etcd cluster, and a [fencedb.Guard] for
// what is kept in it.
//
// A token's counter is the revision of the transaction that made the grant: one number for
// the whole cluster, which every write makes larger. Above it stands the incarnation, which
// moves on when the cluster was restored from a snapshot, since that sets the revision back.
//
// An etcd lease lasts for whole seconds, and for at least one and a half election timeouts:
// two seconds with etcd's defaults. It is gone up to a second after its time. So a holder
// may count on no more than it asked for, and a takeover takes a little longer.
//
// No etcd lease is ever kept alive: a renewal is a new etcd lease and a transaction that puts
// the resource's key on it. A kept-alive lease depends on who believes to be the leader,
// since that does not go through Raft; docs/etcd.md has the failure model.
package etcdlease
