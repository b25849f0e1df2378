package record

// This file tells which call read a value, and from which column or key.

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// pass are functions whose result says the same as their arguments.
var pass = map[string]bool{
	"strconv.ParseInt": true, "strconv.Atoi": true, "strconv.ParseUint": true, "strconv.ParseFloat": true,
	"strconv.Itoa": true, "strconv.FormatInt": true,
	"time.Unix": true, "time.UnixMilli": true, "time.UnixMicro": true, "time.Parse": true,
	"strings.TrimSpace": true, "strings.Split": true, "strings.Cut": true, "strings.TrimPrefix": true, "strings.SplitN": true,
	"strings.ToLower": true, "bytes.TrimSpace": true, "strings.TrimSuffix": true,
	"github.com/aws/aws-sdk-go-v2/aws.ToString": true, "github.com/aws/aws-sdk-go-v2/aws.ToTime": true, "github.com/aws/aws-sdk-go-v2/aws.ToInt64": true,
	"k8s.io/utils/ptr.Deref": true,
}

// receiverOnly are methods whose result says the same as their receiver.
var receiverOnly = map[string]bool{
	"Add": true, "UTC": true, "In": true, "Local": true, "Round": true, "Truncate": true,
	"Unix": true, "UnixNano": true, "UnixMilli": true, "UnixMicro": true, "AsTime": true, "Time": true,
	"Result": true, "Val": true, "Text": true, "Int64": true, "Int": true, "Bytes": true, "Uint64": true, "String": true,
	"GetSeconds": true,
}

// fills are the names of functions that fill what they are given the address of.
var fills = map[string]bool{
	"Scan": true, "ScanContext": true, "Unmarshal": true, "Decode": true, "UnmarshalJSON": true, "First": true, "Find": true, "Take": true,
	"Last": true, "StructScan": true, "ScanStruct": true, "UnmarshalMap": true, "Get": true, "GetContext": true,
	"Select": true, "SelectContext": true, "DecodeElement": true, "UnmarshalStrict": true, "One": true, "All": true,
	"ScanRow": true, "FirstOrCreate": true, "FirstOrInit": true, "UnmarshalMapWithOptions": true, "ScanOne": true,
}

// readOf returns the call that base, a struct or a pointer to one, came from, and
// whether that call filled it rather than return it.
func (r *Reader) readOf(base ssa.Value) (c *ssa.Call, filled bool) {
	r.Trace.Walk(base, func(v, out ssa.Value) ([]ssa.Value, bool) {
		if c != nil {
			return nil, true
		}
		switch v := v.(type) {
		case *ssa.Call:
			if out != nil {
				if _, ok := r.filled(v, out); ok {
					c, filled = v, true
				}
				return nil, true
			}
			if callee := ir.Callee(&v.Call); callee == nil || callee.Pkg != r.Pkg.SSA {
				c = v
				return nil, true
			}
		case *ssa.FieldAddr:
			if f := ir.FieldOf(v.X.Type(), v.Field); f != nil && len(r.Pkg.Stores(f)) == 0 {
				return []ssa.Value{v.X}, true // part of what was read
			}
		}
		return nil, false
	})
	return c, filled
}

// readerNames start the names of methods that fetch a record.
var readerNames = lease.Set{"get": true, "load": true, "find": true, "fetch": true, "read": true, "query": true,
	"lookup": true, "list": true, "select": true, "current": true, "retrieve": true}

// isRead tells whether call reads a store: it is catalogued, its summary says
// so, or it is an interface's reader that can fail.
func (r *Reader) isRead(c *ssa.Call) bool {
	if s, ok := r.Sink.Spec(&c.Call); ok {
		return s.Op == sink.Read || s.Store == sink.SQL
	}
	obj := ir.Object(&c.Call)
	if obj == nil {
		return false
	}
	if r.Reads != nil && r.Reads(obj) {
		return true
	}
	if !c.Call.IsInvoke() {
		return false
	}
	ws := lease.Words(obj.Name())
	res := obj.Type().(*types.Signature).Results()
	if len(ws) == 0 || !readerNames[ws[0]] || res.Len() < 2 {
		return false
	}
	return types.Identical(res.At(res.Len()-1).Type(), types.Universe.Lookup("error").Type())
}

// call handles a call whose result is traced.
func (r *Reader) call(c *ssa.Call) (next []ssa.Value, d *Datum, handled bool) {
	obj := ir.Object(&c.Call)
	if obj == nil {
		return nil, nil, true
	}
	if pass[obj.FullName()] {
		return c.Call.Args, nil, true
	}
	if spec, ok := r.Sink.Spec(&c.Call); ok && spec.Store != sink.SQL {
		d := &Datum{Read: c, Spec: spec, Handle: sink.Receiver(&c.Call)}
		if k := sink.Arg(&c.Call, spec.Key); k != nil {
			d.KeyValue = k
			d.Key = strings.ReplaceAll(first(r.Sink.Keys(k)), sqlstmt.Hole, "…")
		}
		return nil, d, true
	}
	sig := obj.Type().(*types.Signature)
	entry := obj.Name() == "Value" && obj.Pkg() != nil && strings.HasPrefix(obj.Pkg().Path(), "github.com/nats-io/nats.go")
	if sig.Recv() != nil && (receiverOnly[obj.Name()] || entry) && !inPackage(r.Pkg, c) {
		if c.Call.IsInvoke() {
			return []ssa.Value{c.Call.Value}, nil, true
		}
		return c.Call.Args[:1], nil, true
	}
	// Getters of protobuf messages.
	if sig.Recv() != nil && strings.HasPrefix(obj.Name(), "Get") && sig.Params().Len() == 0 && !inPackage(r.Pkg, c) {
		if n := ir.NamedOf(sig.Recv().Type()); n != nil && hasMethod(n, "ProtoReflect") {
			if f := fieldNamed(n, strings.TrimPrefix(obj.Name(), "Get")); f != nil {
				return nil, &Datum{Field: f, Struct: n, Request: false}, true
			}
		}
	}
	return nil, nil, false
}

func inPackage(p *ir.Package, c *ssa.Call) bool {
	callee := ir.Callee(&c.Call)
	return callee != nil && callee.Pkg == p.SSA && callee.Blocks != nil
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// filled describes what call puts behind the address addr.
func (r *Reader) filled(c *ssa.Call, addr ssa.Value) (Datum, bool) {
	obj := ir.Object(&c.Call)
	if obj == nil || !fills[obj.Name()] {
		return Datum{}, false
	}
	d := Datum{Read: c, Handle: sink.Receiver(&c.Call)}
	for _, a := range c.Call.Args {
		if r.fromRequest(a) {
			d.Request = true
		}
	}
	if c.Call.IsInvoke() && r.fromRequest(c.Call.Value) {
		d.Request = true
	}
	spec, known := r.Sink.Spec(&c.Call)
	sent := known && spec.Store == sink.SQL
	if sent && spec.HasText() { // sqlx.Get(&row, "SELECT ...")
		col := -1
		if p, ok := addr.Type().Underlying().(*types.Pointer); ok {
			if _, scalar := p.Elem().Underlying().(*types.Basic); scalar {
				col = 0 // one value takes the one column
			}
		}
		r.describe(&d, c, col)
		return d, true
	}
	args := c.Call.Args
	if obj.Name() != "Scan" && obj.Name() != "ScanContext" || len(args) == 0 {
		return d, true
	}
	dests, _ := origin.Variadic(args[len(args)-1])
	col := slices.IndexFunc(dests, func(v ssa.Value) bool { return address(v) == addr })
	if sent { // a builder's Scan sends the statement itself
		r.describe(&d, c, col)
		return d, true
	}
	if site := r.Sink.Selected(c); site != nil {
		r.describeSite(&d, site, col)
		return d, true
	}
	if recv := sink.Receiver(&c.Call); recv != nil {
		if q := r.queryOf(recv); q != nil {
			r.describe(&d, q, col)
		}
	}
	return d, true
}

// Column names the column that call scans into the address addr.
func (r *Reader) Column(call *ssa.Call, addr ssa.Value) (table, column string, ok bool) {
	d, found := r.filled(call, addr)
	return d.Table, d.Column, found && d.Column != ""
}

func address(v ssa.Value) ssa.Value {
	for range 4 {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		default:
			return v
		}
	}
	return v
}

// queryOf returns the SQL call that a Row or Rows came from.
func (r *Reader) queryOf(row ssa.Value) *ssa.Call {
	var q *ssa.Call
	r.Trace.Walk(row, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || out != nil {
			return nil, out != nil
		}
		if s, ok := r.Sink.Spec(&c.Call); ok && s.Store == sink.SQL {
			if q == nil {
				q = c
			}
			return nil, true
		}
		return nil, false
	})
	return q
}

// describe fills in the column number col (-1: unknown) of the statement of q.
func (r *Reader) describe(d *Datum, q *ssa.Call, col int) {
	d.Read, d.Handle = q, sink.Receiver(&q.Call)
	if site := r.Sink.Site(q); site != nil {
		r.describeSite(d, site, col)
	}
}

func (r *Reader) describeSite(d *Datum, site *sink.Site, col int) {
	d.Spec = site.Spec
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			var out []sqlstmt.Expr
			if st.Query != nil {
				out = st.Query.Output
				d.Lock = max(d.Lock, st.Query.Lock)
				for _, cte := range st.CTEs {
					d.Lock = max(d.Lock, cte.Lock)
				}
				d.Where = append(d.Where, st.Query.Where...)
				if len(st.Query.From) > 0 {
					d.Table = st.Query.From[0].Name
				}
				for _, o := range out {
					if o.Kind == sqlstmt.Exists && o.Sub != nil {
						d.Exists = true
						d.Where = append(d.Where, o.Sub.Where...)
						if len(o.Sub.From) > 0 && d.Table == "" {
							d.Table = o.Sub.From[0].Name
						}
					}
				}
			}
			for _, w := range st.Writes {
				if len(w.Returning) > 0 {
					out, d.Table = w.Returning, w.Table.Name
					d.Where = append(d.Where, w.Where...)
				}
			}
			if col >= 0 && col < len(out) {
				e := out[col]
				if e.Kind == sqlstmt.Func && len(e.Args) > 0 && (e.Name == "coalesce" || e.Name == "max") {
					e = e.Args[0]
				}
				if e.Kind == sqlstmt.Column {
					d.Column = e.Name
					if st.Query != nil {
						d.Table = tableOf(st.Query.From, e.Table, d.Table)
					}
				}
			}
		}
	}
}

func tableOf(from []sqlstmt.Table, alias, fallback string) string {
	for _, t := range from {
		if alias != "" && (strings.EqualFold(t.Alias, alias) || strings.EqualFold(t.Name, alias)) {
			return t.Name
		}
	}
	return fallback
}
