// Package lease answers one question: is this type, field, call or callback
// about ownership?
//
// It holds the catalogue of lease libraries and the word lists by which
// home-made leases are recognised. A word alone proves nothing: the packages
// that use it also ask where a value comes from.
package lease

import (
	"go/types"
	"strings"
)

// Kind is what a catalogued call does with a lease.
type Kind int

// The kinds.
const (
	Acquire Kind = iota
	Check
	Renew
	Release
	Callback // an argument is run as owner
	Elected  // returns a channel that is closed once this process leads
	Lost     // returns a channel that is closed when ownership is lost
	Locker   // returns a sync.Locker whose Lock takes ownership
)

// Proof says which answer of a call means "this process is the owner".
type Proof int

// The proofs.
const (
	NilError Proof = iota // the error result is nil
	True                  // the first bool result is true
	NoResult              // it returns only as owner
	NonNil                // the result is not nil: nil says that another owns it
	Free                  // of a bool, false, of an error, nil: the lock was found free
	False                 // the bool result is false: true says that another owns it
)

// Call is one catalogued function or method.
type Call struct {
	Kind  Kind
	Proof Proof
	Arg   int // of a Callback: the parameter that is run as owner, the receiver not counted
	// With: of a Callback, it runs as owner only in a package that also calls one of
	// these, which turn the election on; none: always.
	With []string
}

// Find returns what f does, if it is catalogued.
func Find(f *types.Func) (Call, bool) {
	if f == nil || f.Pkg() == nil {
		return Call{}, false
	}
	path := f.Pkg().Path()
	if !Known(path) {
		return Call{}, false
	}
	if c, ok := catalogue[path+"|"+receiver(f)+"|"+f.Name()]; ok {
		return c, true
	}
	return Call{}, false
}

func receiver(f *types.Func) string {
	recv := f.Type().(*types.Signature).Recv()
	if recv == nil {
		return ""
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// IsCallbackField tells whether a function stored in field name of struct type
// t runs as owner.
func IsCallbackField(t *types.Named, name string) bool {
	if t == nil || t.Obj().Pkg() == nil {
		return false
	}
	return callbackFields[t.Obj().Pkg().Path()+"."+t.Obj().Name()+"."+name]
}

var packages = func() map[string]bool {
	m := map[string]bool{}
	for k := range catalogue {
		path, _, _ := strings.Cut(k, "|")
		m[path] = true
	}
	return m
}()

// Known tells whether the import path belongs to a catalogued lease library.
func Known(path string) bool { return packages[path] }
