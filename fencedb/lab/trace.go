package lab

import "time"

// The lanes beside the workers'.
const (
	storeName    = "coordinator"
	resourceName = "resource"
)

// An Entry is one line of a run's log: what happened, where, and when in true time. Receipts
// have what the receipts of package fencedb have, under the same names.
type Entry struct {
	At     Time   `json:"at"` // nanoseconds since the start
	Kind   string `json:"kind"`
	Who    string `json:"who"`
	Peer   string `json:"peer,omitempty"`
	Op     string `json:"op,omitempty"`
	Msg    uint64 `json:"msg,omitempty"` // pairs a message's sending and arrival
	Token  int64  `json:"token,omitempty"`
	Grant  string `json:"grant,omitempty"`
	Until  Time   `json:"until,omitempty"` // of a validity, a pause, a cut
	Result string `json:"result,omitempty"`
	Note   string `json:"note,omitempty"`

	GrantReceipt    *GrantReceipt    `json:"grant_receipt,omitempty"`
	WriteReceipt    *WriteReceipt    `json:"write_receipt,omitempty"`
	DecisionReceipt *DecisionReceipt `json:"decision_receipt,omitempty"`
}

// The kinds of entries.
const (
	EntrySend      = "send"      // a message leaves
	EntryArrive    = "arrive"    // it arrives
	EntryLoss      = "loss"      // it never does
	EntryState     = "state"     // a holder is in another state
	EntryValid     = "valid"     // a lease is valid until Until, by the holder's clock
	EntryOver      = "over"      // it is not any more
	EntryLease     = "lease"     // the coordinator counts a grant until Until
	EntryGrant     = "grant"     // GrantReceipt
	EntryWrite     = "write"     // WriteReceipt
	EntryDecision  = "decision"  // DecisionReceipt
	EntryFault     = "fault"     // something goes wrong, until Until
	EntryViolation = "violation" // an invariant does not hold
)

// A GrantReceipt says who was granted what, after whom. Times are the coordinator's.
type GrantReceipt struct {
	Resource        string              `json:"resource"`
	Owner           string              `json:"owner"`
	Token           int64               `json:"token"`
	CoordinatorTime time.Time           `json:"coordinator_time"`
	Transaction     string              `json:"grant_transaction"`
	Predecessor     *PredecessorReceipt `json:"predecessor,omitempty"`
}

// A PredecessorReceipt is the grant before.
type PredecessorReceipt struct {
	Token       int64     `json:"token"`
	Owner       string    `json:"owner"`
	End         string    `json:"end"`
	RenewalTime time.Time `json:"renewal_time"`
}

// A WriteReceipt is what a worker sent.
type WriteReceipt struct {
	Resource    string        `json:"resource"`
	Operation   string        `json:"operation"`
	Owner       string        `json:"owner"`
	Token       int64         `json:"token"`
	RenewalTime time.Time     `json:"renewal_time"` // of its lease, the last it knew of
	Pause       time.Duration `json:"pause,omitempty"`
	Valid       bool          `json:"valid"` // its lease was, when it was sent
}

// A DecisionReceipt is what the resource made of a write, or of a raise.
type DecisionReceipt struct {
	Resource  string `json:"resource"`
	Operation string `json:"operation"`
	Owner     string `json:"owner"`
	Expected  int64  `json:"expected_fence"` // and above
	Received  int64  `json:"received_fence"`
	Result    string `json:"result"`
}
