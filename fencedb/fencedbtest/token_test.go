package fencedbtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fencelint/fence/fencedb/fencedbtest"
)

func TestToken(t *testing.T) {
	a, b := fencedbtest.Token("orders:daily", 41), fencedbtest.Token("orders:daily", 41)
	if a != b {
		t.Errorf("%v and %v differ", a, b)
	}
	if c := fencedbtest.Granted("orders:daily", 41, "other"); a == c || c.Value() != 41 {
		t.Errorf("another grant of 41 is %v", c)
	}
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "not positive") {
			t.Errorf("token 0: panicked with %s", r)
		}
	}()
	fencedbtest.Token("orders:daily", 0)
}

func ExampleSequence() {
	grants := fencedbtest.NewSequence("orders:daily", 41)
	former, present := grants.Next(), grants.Next()
	fmt.Println(former.Value(), present.Value())
	// Output: 41 42
}
