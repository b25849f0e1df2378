// Package lockfile is the JSON form of a repository lock.
package lockfile

import "time"

// Lock is written by the process that works on the repository and refreshed
// every few minutes.
type Lock struct {
	Refreshed time.Time `json:"time"`
	Exclusive bool      `json:"exclusive"`
	Hostname  string    `json:"hostname"`
	Username  string    `json:"username"`
	PID       int       `json:"pid,omitempty"`
}

// StaleAfter is how long a lock lives without a refresh.
const StaleAfter = 30 * time.Minute

func (l *Lock) Stale() bool {
	return time.Since(l.Refreshed) > StaleAfter // want:T
}
