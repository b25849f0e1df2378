//go:build !linux

package fencedb

import "time"

type systemClock struct{ start time.Time }

func newSystemClock() Clock { return systemClock{time.Now()} }

func (c systemClock) Now() time.Duration { return time.Since(c.start) }

func (systemClock) Suspended() time.Duration { return 0 }

func (systemClock) Wall() time.Time { return time.Now().Round(0) }
