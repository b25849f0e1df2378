package protocol

// A Guard is what a guard knows: the largest token it was raised to. The zero Guard was
// never raised.
type Guard struct {
	Value   int64
	GrantID string
}

// A Comparison is how a token compares with what a guard knows.
type Comparison int

// The comparisons. Only Current lets a write through.
const (
	Current    Comparison = iota + 1 // it is the one that the guard knows
	Stale                            // a later grant is known
	NotGranted                       // the guard was never raised to it
	Conflict                         // the same number is known from another grant
)

// Compare compares a presented token.
func (g Guard) Compare(value int64, grantID string) Comparison {
	switch {
	case value < g.Value:
		return Stale
	case value > g.Value:
		return NotGranted
	case grantID != g.GrantID:
		return Conflict
	}
	return Current
}

// Raise returns the guard after it was raised to a token, and how the token compares with
// it then: never NotGranted. A guard never sinks.
func (g Guard) Raise(value int64, grantID string) (Guard, Comparison) {
	if value > g.Value {
		g = Guard{value, grantID}
	}
	return g, g.Compare(value, grantID)
}
