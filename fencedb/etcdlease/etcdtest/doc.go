// Package etcdtest tests package etcdlease on etcd clusters of three members, embedded in the
// test. It is a module of its own so that the etcd server is no requirement of programs that
// use etcdlease.
package etcdtest
