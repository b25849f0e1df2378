package sqlstmt

// binding says what the parameters and the holes of a normalised text stand for.
type binding struct {
	params []Expr
	holes  []span
}

type span struct{ start, end int }

// paramBase is above every number PostgreSQL allows: from here on a number is
// an index of the placeholders rewritten.
const paramBase = 1 << 20

func (b binding) param(n int) Expr {
	if i := n - paramBase; i >= 0 && i < len(b.params) {
		return b.params[i]
	}
	return Expr{Kind: Param, N: n}
}

// hole tells whether the offset lies in what was put for a hole.
func (b binding) hole(at int) bool {
	for _, h := range b.holes {
		if h.start <= at && at < h.end {
			return true
		}
	}
	return false
}
