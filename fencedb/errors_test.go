package fencedb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fencelint/fence/fencedb"
)

func TestErrorTexts(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{
			&fencedb.StaleError{Resource: "orders:daily", Table: "orders", Key: "id=7", Presented: 41, Current: 42},
			"fencedb: stale token 41 of orders:daily in orders (id=7): 42 is known",
		},
		{
			&fencedb.StaleError{Resource: "orders:daily", Presented: 41},
			"fencedb: stale token 41 of orders:daily",
		},
		{
			&fencedb.ConflictError{Resource: "orders:daily", Table: "orders", Key: "id=7", Value: 41, Presented: "mine", Current: "theirs"},
			`fencedb: token 41 of orders:daily in orders (id=7) was granted twice: to "theirs" and to "mine"`,
		},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Outcomes are told apart through wrapping, and none is taken for another.
func TestErrorsAreDistinct(t *testing.T) {
	sentinels := []error{
		fencedb.ErrStale, fencedb.ErrNotFound, fencedb.ErrWrongResource, fencedb.ErrNotGranted, fencedb.ErrInvalidToken,
	}
	for _, test := range []struct {
		outcome error
		matches error // nil: none
	}{
		{&fencedb.StaleError{}, fencedb.ErrStale},
		{&fencedb.ConflictError{}, nil},
		{fencedb.ErrStale, fencedb.ErrStale},
		{fencedb.ErrNotFound, fencedb.ErrNotFound},
		{fencedb.ErrWrongResource, fencedb.ErrWrongResource},
		{fencedb.ErrNotGranted, fencedb.ErrNotGranted},
		{fencedb.ErrInvalidToken, fencedb.ErrInvalidToken},
	} {
		wrapped := fmt.Errorf("saving the order: %w", test.outcome)
		for _, sentinel := range sentinels {
			want := test.matches != nil && test.matches.Error() == sentinel.Error()
			if got := errors.Is(wrapped, sentinel); got != want {
				t.Errorf("%T %v matches %v: %t, want %t", test.outcome, test.outcome, sentinel, got, want)
			}
		}
	}
}
