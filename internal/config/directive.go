package config

// Directive is one "//fence:verb args" in Go or "-- fence:verb args" in SQL.
type Directive struct {
	Pos  Pos
	Verb string   // "protect", "token", "lease", "check", "write", "effect", "expiry"
	Args []string // positional words: the orders of "//fence:write orders"
	// Options holds key=value words: resource, guard, rule.
	Options map[string]string
}
