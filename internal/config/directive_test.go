package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func (d Directive) show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q", d.Verb, d.Args)
	for _, k := range slices.Sorted(maps.Keys(d.Options)) {
		fmt.Fprintf(&b, " %s=%s", k, d.Options[k])
	}
	return b.String()
}

// TestDirectives: an empty want is prose.
func TestDirectives(t *testing.T) {
	pos := Pos{File: "f", Line: 3, Column: 5}
	for _, test := range []struct{ text, want string }{
		{"//fence:check", `check []`},
		{"//fence:protect", `protect []`},
		{"//fence:protect resource=orders", `protect [] resource=orders`},
		{"//fence:token", `token []`},
		{"//fence:token rule=equal", `token [] rule=equal`},
		{"//fence:lease", `lease []`},
		{"//fence:write orders", `write ["orders"]`},
		{"//fence:write orders  items\t", `write ["orders" "items"]`},
		{"//fence:effect", `effect []`},
		{"//fence:effect idempotent", `effect ["idempotent"]`},
		{"//fence:check // the leader only", `check []`},
		{"//fence:check\r", `check []`},
		{"// fence: prose", ""},
		{"//fence: prose", ""},
		{"//fence", ""},
		{"//fence:", ""},
		{"// fence:check whether it holds", ""},
		{"// see fence:check", ""},
		{"//fences:check", ""},
		{"//go:build fence:check", ""},
		{"// fence:check", `f:3:5: // fence:check has a blank after the slashes and so is a plain comment: write //fence:check`},
		{"//fence:chekc", `f:3:7: unknown directive fence:chekc: did you mean fence:check?`},
		{"//fence:Check", `f:3:7: unknown directive fence:Check: did you mean fence:check?`},
		{"//fence:whatever", `f:3:7: unknown directive fence:whatever: known: protect, token, lease, check, write, effect`},
		{"//fence:expiry", `f:3:7: unknown directive fence:expiry: it stands on an SQL column; name a Go field under leases: expiries in fence.yaml`},
		{"//fence:write", `f:3:7: fence:write names nothing: write //fence:write orders`},
		{"//fence:write orders orders", `f:3:26: fence:write: "orders" twice: keep one`},
		{"//fence:effect idempotnt", `f:3:20: fence:effect: unknown word "idempotnt": did you mean "idempotent"?`},
		{"//fence:check now", `f:3:19: fence:check: unknown word "now": write //fence:check`},
		{"//fence:token rule=equals", `f:3:19: fence:token: unknown rule "equals", want monotonic or equal: did you mean "equal"?`},
		{"//fence:protect guard=x", `f:3:21: fence:protect: unknown option "guard": write //fence:protect`},

		{"-- fence:protect resource=orders:{region}", `protect [] resource=orders:{region}`},
		{"-- fence:protect resource=a guard=leases", `protect [] guard=leases resource=a`},
		{"--fence:protect", `protect []`},
		{"-- fence:token rule=equal", `token [] rule=equal`},
		{"-- fence:token -- one per claim", `token []`},
		{"/* fence:expiry */", `expiry []`},
		{"# fence:expiry", `expiry []`},
		{"-- fence: words", ""},
		{"-- fence", ""},
		{"-- fence, maintained by the trigger", ""},
		{"-- the fence:token", ""},
		{"fence:token", ""},
		{"-- fence:protct", `f:3:8: unknown directive fence:protct: did you mean fence:protect?`},
		{"-- fence:protect resorce=x", `f:3:22: fence:protect: unknown option "resorce": did you mean "resource"?`},
		{"-- fence:protect leases", `f:3:22: fence:protect: unknown word "leases": write -- fence:protect resource=orders:{region}`},
		{"-- fence:protect guard=", `f:3:22: fence:protect: option guard has no value: write guard=value without blanks`},
		{"-- fence:protect guard=a guard=b", `f:3:30: fence:protect: option guard twice: keep one`},
		{`-- fence:protect guard="a"`, `f:3:22: fence:protect: option guard has quotes: leave them out: a value ends at the first blank`},
		{"-- fence:write orders", `f:3:8: unknown directive fence:write: it stands on a Go declaration`},
	} {
		parse := ParseSQL
		if strings.HasPrefix(test.text, "//") {
			parse = ParseGo
		}
		d, ok, err := parse(test.text, pos)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case ok:
			got = d.show()
		}
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
		if ok != (err == nil && test.want != "") {
			t.Errorf("%s: ok = %t", test.text, ok)
		}
	}
}
