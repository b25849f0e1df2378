package storetest

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: not the holders, not the recorders, not the pools.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
