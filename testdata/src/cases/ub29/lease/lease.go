// Package lease is the record that vault agents leave in Consul.
package lease

import (
	"encoding/json"
	"time"
)

type Lease struct {
	Owner   string    `json:"owner"`
	Expires time.Time `json:"expires"`
}

func Decode(raw []byte) (Lease, error) {
	var l Lease
	err := json.Unmarshal(raw, &l)
	return l, err
}

func (l Lease) Encode() []byte {
	raw, _ := json.Marshal(l)
	return raw
}

// Expired says whether somebody else may take it.
func (l Lease) Expired() bool {
	return !time.Now().Before(l.Expires) // want:T
}
