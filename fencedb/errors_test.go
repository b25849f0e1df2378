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
	outcomes := append([]error{&fencedb.StaleError{}, &fencedb.ConflictError{}}, sentinels...)
	for _, outcome := range outcomes {
		wrapped := fmt.Errorf("saving the order: %w", outcome)
		for _, sentinel := range sentinels {
			var stale *fencedb.StaleError
			//nolint:errorlint // which of them it is, not what it wraps
			want := outcome == sentinel || sentinel == fencedb.ErrStale && errors.As(outcome, &stale)
			if got := errors.Is(wrapped, sentinel); got != want {
				t.Errorf("%T %v matches %v: %t, want %t", outcome, outcome, sentinel, got, want)
			}
		}
	}
}
