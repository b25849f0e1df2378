// Package electors compares fencedb.Hold with other libraries that elect a leader by a lease,
// under one and the same fault: a renewal is carried out, its answer is late, and then nothing
// that the holder sends arrives. docs/compared.md tells what came of it and why.
//
// It is a module of its own, so that the libraries are not required by anything else.
package electors
