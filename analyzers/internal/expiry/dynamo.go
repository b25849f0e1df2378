package expiry

import (
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
)

// ordering finds the ordered comparisons of a DynamoDB condition: attribute,
// operator, value placeholder.
var ordering = regexp.MustCompile(`([A-Za-z_#][\w.]*)\s*(?:<=|>=|<|>)\s*:(\w+)`)

// dynamo looks at the condition of a DynamoDB request for an expiry that is
// compared with a value bound from outside.
func (r *Reader) dynamo(c *ssa.Call) []Bound {
	spec, ok := r.Sink.Spec(&c.Call)
	if !ok || spec.Store != sink.DynamoDB || spec.Input < 0 {
		return nil
	}
	site := r.Sink.Site(c)
	if site == nil {
		return nil
	}
	names := append(append([]string(nil), site.Names...), site.Texts...)
	for _, v := range r.Sink.FieldValues(site, "Item") {
		names = append(names, r.Sink.MapKeys(v)...)
	}
	owned := false
	for _, n := range names {
		owned = owned || lease.IsLockKey(n) || lease.IsHolderName(n)
	}
	var out []Bound
	for _, field := range []string{"ConditionExpression", "FilterExpression"} {
		for _, text := range r.Sink.FieldValues(site, field) {
			for _, t := range r.Text.Texts(text) {
				for _, m := range ordering.FindAllStringSubmatch(t, -1) {
					m[1] = r.attribute(site, m[1])
					if !lease.Ownership.Has(m[1]) && !(owned && lease.Expiry.Has(m[1])) {
						continue
					}
					for _, v := range r.placeholder(site, ":"+m[2]) {
						out = append(out, Bound{c.Pos(), m[1], v})
					}
				}
			}
		}
	}
	return out
}

// expressionPath is the builder of DynamoDB conditions.
const expressionPath = "github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

var orderMethods = map[string]bool{"LessThan": true, "LessThanEqual": true, "GreaterThan": true, "GreaterThanEqual": true}

// expression looks at Name("attribute").LessThan(Value(v)) and its like.
func (r *Reader) expression(c *ssa.Call) []Bound {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != expressionPath || !orderMethods[obj.Name()] {
		return nil
	}
	name, ok := sink.Receiver(&c.Call).(*ssa.Call)
	if !ok || len(name.Call.Args) != 1 {
		return nil
	}
	for _, t := range r.Text.Texts(name.Call.Args[0]) {
		if !lease.Ownership.Has(t) {
			continue
		}
		if mi, ok := sink.Arg(&c.Call, 0).(*ssa.MakeInterface); ok {
			if v, ok := mi.X.(*ssa.Call); ok && len(v.Call.Args) == 1 {
				if inner, ok := v.Call.Args[0].(*ssa.MakeInterface); ok {
					return []Bound{{c.Pos(), t, inner.X}}
				}
			}
		}
	}
	return nil
}

// attribute returns the attribute that a name of a condition stands for: "#e" is what
// ExpressionAttributeNames says.
func (r *Reader) attribute(site *sink.Site, name string) string {
	if !strings.HasPrefix(name, "#") {
		return name
	}
	for _, m := range r.Sink.FieldValues(site, "ExpressionAttributeNames") {
		for _, v := range entries(m, name) {
			if ts := r.Text.Texts(v); len(ts) == 1 && sqltext.Known(ts[0]) {
				return ts[0]
			}
		}
	}
	return name
}

func entries(m ssa.Value, key string) []ssa.Value {
	if mk, ok := m.(*ssa.MakeMap); ok {
		return sink.Entries(mk, key)
	}
	return nil
}

// placeholder returns what a request binds to a placeholder.
func (r *Reader) placeholder(site *sink.Site, name string) []ssa.Value {
	var out []ssa.Value
	for _, m := range r.Sink.FieldValues(site, "ExpressionAttributeValues") {
		for _, v := range entries(m, name) {
			out = append(out, r.numbers(v)...)
		}
	}
	return out
}

// numbers returns the numbers, or the times, that an attribute value was formatted
// from.
func (r *Reader) numbers(v ssa.Value) []ssa.Value {
	var out []ssa.Value
	r.Sink.Trace.Walk(v, func(v, filled ssa.Value) ([]ssa.Value, bool) {
		switch v := v.(type) {
		case *ssa.Alloc:
			if elements := r.Sink.Elements(v); elements != nil {
				return elements, true
			}
			var vals []ssa.Value
			for _, in := range *v.Referrers() {
				if fa, ok := in.(*ssa.FieldAddr); ok {
					for _, use := range *fa.Referrers() {
						if st, ok := use.(*ssa.Store); ok && st.Addr == fa {
							vals = append(vals, st.Val)
						}
					}
				}
			}
			return vals, len(vals) > 0
		case *ssa.Call:
			obj := ir.Object(&v.Call)
			switch {
			case obj == nil || obj.Pkg() == nil || filled != nil:
			case obj.Pkg().Path() == "strconv", obj.Pkg().Path() == "fmt":
				return v.Call.Args, true
			case obj.Pkg().Path() == "time" && strings.HasPrefix(obj.Name(), "Unix"):
				return v.Call.Args[:1], true
			case obj.Pkg().Path() == "time" && ir.IsNamed(v.Type(), "time", "Time"):
				out = append(out, v)
				return nil, true
			}
		}
		if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
			out = append(out, v)
			return nil, true
		}
		return nil, filled != nil
	})
	return out
}
