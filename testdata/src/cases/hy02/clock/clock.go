// Package clock lets tests control time.
package clock

import "time"

type Clock interface {
	Now() time.Time
}

type system struct{}

func (system) Now() time.Time { return time.Now() }

// System is the machine's clock.
var System Clock = system{}
