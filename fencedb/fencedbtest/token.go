package fencedbtest

import (
	"fmt"
	"sync/atomic"

	"github.com/fencelint/fence/fencedb"
)

// Token returns the token of a grant of resource with the given value: the same for the
// same arguments. It panics if they make no token (see [fencedb.NewToken]).
func Token(resource string, value int64) fencedb.Token {
	return Granted(resource, value, fmt.Sprintf("test-%d", value))
}

// Granted is Token with a grant id of its own, to have one number granted twice.
func Granted(resource string, value int64, grant string) fencedb.Token {
	t, err := fencedb.NewToken(resource, value, grant)
	if err != nil {
		panic("fencedbtest: " + err.Error())
	}
	return t
}

// A Sequence makes the tokens of successive grants of one resource. Any number of
// goroutines may use one.
type Sequence struct {
	resource string
	last     atomic.Int64
}

// NewSequence returns a Sequence whose first token has the value first.
func NewSequence(resource string, first int64) *Sequence {
	s := &Sequence{resource: resource}
	s.last.Store(first - 1)
	return s
}

// Next returns the next grant's token. It panics like [Token].
func (s *Sequence) Next() fencedb.Token { return Token(s.resource, s.last.Add(1)) }
