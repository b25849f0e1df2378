package fencedb

import (
	"errors"
	"strconv"
	"strings"
)

// The outcomes of a write that compares, to be tested with [errors.Is]. The
// write changed nothing if it returned one of them.
var (
	// ErrStale says that a later grant of the resource is known: this holder has
	// been superseded. It is final. Stop the work; a retry with the same token is
	// rejected again, and one with a new token needs a new grant and what the
	// successor wrote. It arrives as a [*StaleError].
	ErrStale = errors.New("fencedb: stale token")

	// ErrNotFound says that there is no such row to change. The token was good, or
	// there was nothing to compare it with.
	ErrNotFound = errors.New("fencedb: no such row")

	// ErrWrongResource says that a token of one resource was used for another. It
	// is an error of the program, found before the database is touched.
	ErrWrongResource = errors.New("fencedb: token of another resource")

	// ErrNotGranted says that the token is larger than the one the row knows,
	// where the two must be equal (rule: equal): the row was never given to this
	// holder. A retry does not help.
	ErrNotGranted = errors.New("fencedb: token was not granted for this row")

	// ErrRetryable says that the database gave a transaction up, and that the whole of it
	// may be repeated: in favour of another one (a deadlock, a failed serialization), since it
	// waited for too long, or since its client was away for too long. Nothing was decided
	// about the token.
	ErrRetryable = errors.New("fencedb: the transaction may be repeated")

	// ErrInvalidToken says that a token is the zero Token, or that its parts or
	// its text make none. It is found before the database is touched.
	ErrInvalidToken = errors.New("fencedb: invalid token")
)

// A StaleError is a write that was rejected because a later grant is known. It
// matches [ErrStale].
type StaleError struct {
	Resource  string // of the token
	Table     string // the table written, empty if the guard rejected it before
	Key       string // the row, as "id=7"; empty if it is not about one row
	Presented int64  // the value of the token the write carried
	Current   int64  // the value it was compared with; 0 if it could not be read
}

// Error says which write was rejected, and the two values.
func (e *StaleError) Error() string {
	var b strings.Builder
	b.WriteString("fencedb: stale token ")
	b.WriteString(strconv.FormatInt(e.Presented, 10))
	about(&b, e.Resource, e.Table, e.Key)
	if e.Current != 0 {
		b.WriteString(": ")
		b.WriteString(strconv.FormatInt(e.Current, 10))
		b.WriteString(" is known")
	}
	return b.String()
}

// Is makes a StaleError match [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// A ConflictError is a write that was rejected because its token's value is
// known from another grant. One number was granted twice: a coordinator was
// restored from an old snapshot, or two coordinators share a namespace. Neither
// holder is the later one, so it does not match [ErrStale]. Do not retry; an
// operator has to start a new incarnation.
type ConflictError struct {
	Resource  string // of the token
	Table     string // the table written, empty if the guard rejected it before
	Key       string // the row, as "id=7"; empty if it is not about one row
	Value     int64  // the value that two grants have
	Presented string // the grant id of the token the write carried
	Current   string // the grant id it was compared with
}

// Error says which write was rejected, and the two grants.
func (e *ConflictError) Error() string {
	var b strings.Builder
	b.WriteString("fencedb: token ")
	b.WriteString(strconv.FormatInt(e.Value, 10))
	about(&b, e.Resource, e.Table, e.Key)
	b.WriteString(" was granted twice: to ")
	b.WriteString(strconv.Quote(e.Current))
	b.WriteString(" and to ")
	b.WriteString(strconv.Quote(e.Presented))
	return b.String()
}

// about writes what an outcome is about, as far as it is known.
func about(b *strings.Builder, resource, table, key string) {
	if resource != "" {
		b.WriteString(" of ")
		b.WriteString(resource)
	}
	if table != "" {
		b.WriteString(" in ")
		b.WriteString(table)
	}
	if key != "" {
		b.WriteString(" (")
		b.WriteString(key)
		b.WriteString(")")
	}
}
