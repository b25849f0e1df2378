package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// scheme is the version of what an identity is made of. Raising it makes every
// finding a new one, also those in users' baselines.
const scheme = 1

// identity is what stays the same while the code around a finding moves. It
// has no line: lines change with every edit above them. It has no file: moving
// a function to another file of its package changes nothing.
type identity struct {
	Scheme                                        int
	Check, Package, Function, Statement, Resource string
}

func (f Finding) identity() identity {
	return identity{scheme, f.Code, f.Package, f.Function, f.Statement, f.Resource}
}

// ID returns the identity of a finding across edits, as 32 hexadecimal digits.
// [Number] must have numbered the findings of the run.
func (f Finding) ID() string {
	// JSON is a cheap encoding in which no two values share a text.
	text, err := json.Marshal(struct {
		identity
		Ordinal int
	}{f.identity(), f.Ordinal})
	if err != nil {
		panic("finding: " + err.Error()) // strings and integers always encode
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Number sets the ordinals: it counts findings that are equal in everything
// else that identifies them, in the order of their places.
func Number(fs []Finding) {
	order := make([]int, len(fs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(fs[i], fs[j]) })
	seen := make(map[identity]int)
	for _, i := range order {
		id := fs[i].identity()
		fs[i].Ordinal = seen[id]
		seen[id]++
	}
}
