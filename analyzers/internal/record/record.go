// Package record answers one question: which stored record, column, key or
// message does this value come from?
package record

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Datum is one stored value.
type Datum struct {
	Table, Column string       // of a row, as far as known
	Field         *types.Var   // the struct field it is read from
	Struct        *types.Named // that field's struct
	Kept          *types.Var   // the field of this program's own struct it was put into afterwards
	KeptIn        *types.Named
	Key           string       // of a key-value store, with … for unknown pieces
	KeyValue      ssa.Value    // the key argument
	Read          *ssa.Call    // the call that read it, if it is in sight
	Spec          sink.Spec    // of Read, if it is a store's
	Handle        ssa.Value    // what Read was made on
	Lock          sqlstmt.Lock // the row lock the reading statement took
	Where         []sqlstmt.Cond
	Request       bool // it came in with a request
}

// Names returns all names that describe d, for word tests.
func (d Datum) Names() []string {
	out := []string{d.Table, d.Column, d.Key}
	if d.Field != nil {
		out = append(out, d.Field.Name())
	}
	if d.Struct != nil {
		out = append(out, d.Struct.Obj().Name())
	}
	if d.KeptIn != nil {
		out = append(out, d.Kept.Name(), d.KeptIn.Obj().Name())
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Own returns the names of the value itself: column and field, not its row.
func (d Datum) Own() []string {
	out := []string{d.Column}
	if d.Field != nil {
		out = append(out, d.Field.Name())
	}
	if d.Kept != nil {
		out = append(out, d.Kept.Name())
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Carrier returns the names of what holds the value: table, struct and key.
func (d Datum) Carrier() []string {
	out := []string{d.Table, d.Key}
	if d.Struct != nil {
		out = append(out, d.Struct.Obj().Name())
	}
	if d.KeptIn != nil {
		out = append(out, d.KeptIn.Obj().Name())
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Foreign tells whether d, by its names, is agreed with somebody else or decides
// nothing about the ownership of work: a session, a certificate, a JWT's claims.
func (d Datum) Foreign() bool {
	if lease.Foreign.Has(d.Names()...) {
		return true
	}
	return d.Struct != nil && slices.Contains(lease.Words(d.Struct.Obj().Name()), "claims")
}

// String names d for a message: table.column, Type.Field, or the key.
func (d Datum) String() string {
	switch {
	case d.Column != "" && d.Table != "":
		return d.Table + "." + d.Column
	case d.Column != "":
		return d.Column
	case d.Field != nil && d.Struct != nil:
		return d.Struct.Obj().Name() + "." + d.Field.Name()
	case d.Field != nil:
		return d.Field.Name()
	case d.Key != "":
		return "the value of " + d.Key
	}
	return "a stored value"
}

// Reader finds the stored origins of values of one package.
type Reader struct {
	Pkg   *ir.Package
	Trace *origin.Tracer
	Sink  *sink.Reader
	// Stored gives the column that a field of another package is scanned from.
	Stored func(*types.Var) (table, column string, ok bool)
	// Reads tells whether a function or interface method of this module returns
	// what it read from a store.
	Reads func(*types.Func) bool
	// Now tells whether a value is this process's time with its monotonic reading.
	Now func(ssa.Value) bool

	memo    map[ssa.Value][]Datum
	decoded map[*types.Named]bool
}

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
	"Scan": true, "Unmarshal": true, "Decode": true, "UnmarshalJSON": true, "First": true, "Find": true, "Take": true,
	"Last": true, "StructScan": true, "ScanStruct": true, "UnmarshalMap": true, "Get": true, "GetContext": true,
	"Select": true, "SelectContext": true, "DecodeElement": true, "UnmarshalStrict": true, "One": true, "All": true,
	"ScanRow": true, "FirstOrCreate": true, "FirstOrInit": true, "UnmarshalMapWithOptions": true, "ScanOne": true,
}

// tagKeys are struct tags by which a field is read from or written to a store or
// a message.
var tagKeys = []string{
	"json", "bson", "db", "gorm", "xorm", "bun", "pg", "yaml", "dynamodbav", "firestore", "datastore",
	"msgpack", "protobuf", "cbor", "spanner", "redis", "mapstructure",
}

// storeTypes are packages whose structs are what a store answered.
var storeTypes = map[string]bool{
	"go.etcd.io/etcd/api/v3/mvccpb": true, "go.etcd.io/etcd/client/v3": true,
	"github.com/hashicorp/consul/api":                     true,
	"github.com/aws/aws-sdk-go-v2/service/dynamodb":       true,
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types": true,
	"github.com/aws/aws-sdk-go-v2/service/s3":             true,
	"k8s.io/api/coordination/v1":                          true,
}

// nullTypes are packages or types that wrap one stored value: their field is
// the value itself.
func isWrapper(t types.Type) bool {
	n := ir.NamedOf(t)
	if n == nil || n.Obj().Pkg() == nil {
		return false
	}
	switch path := n.Obj().Pkg().Path(); {
	case path == "database/sql" && strings.HasPrefix(n.Obj().Name(), "Null"):
		return true
	case path == "github.com/jackc/pgx/v5/pgtype", path == "github.com/guregu/null":
		return true
	case path == "k8s.io/apimachinery/pkg/apis/meta/v1" && (n.Obj().Name() == "Time" || n.Obj().Name() == "MicroTime"):
		return true
	case path == "google.golang.org/protobuf/types/known/timestamppb":
		return true
	case path == "gorm.io/gorm" && n.Obj().Name() == "DeletedAt":
		return true
	}
	return false
}

// Of returns the stored values among v's origins, in the order the walk meets
// them.
func (r *Reader) Of(v ssa.Value) []Datum {
	if d, ok := r.memo[v]; ok {
		return d
	}
	if r.memo == nil {
		r.memo = map[ssa.Value][]Datum{}
	}
	r.memo[v] = nil
	var out []Datum
	var field *types.Var // the outermost field the walk came through
	var strct *types.Named
	r.Trace.Walk(v, func(v, addr ssa.Value) ([]ssa.Value, bool) {
		switch v := v.(type) {
		case *ssa.Call:
			if addr != nil {
				if d, ok := r.filled(v, addr); ok {
					if d.Field == nil {
						d.Field, d.Struct = field, strct
					}
					out = append(out, d)
				}
				return nil, true
			}
			next, d, handled := r.call(v)
			if d != nil {
				if d.Field == nil {
					d.Field, d.Struct = field, strct
				}
				out = append(out, *d)
			}
			return next, handled
		case *ssa.FieldAddr:
			return r.field(v, v.X, v.Field, &field, &strct, &out)
		case *ssa.Field:
			return r.field(v, v.X, v.Field, &field, &strct, &out)
		case *ssa.BinOp:
			if v.Op == token.ADD || v.Op == token.SUB || v.Op == token.MUL || v.Op == token.QUO {
				return []ssa.Value{v.X, v.Y}, true
			}
		}
		return nil, false
	})
	for i := range out {
		if field != nil && strct != nil && out[i].Field != field {
			out[i].Kept, out[i].KeptIn = field, strct
		}
	}
	r.memo[v] = out
	return out
}

func (r *Reader) field(self, base ssa.Value, i int, field **types.Var, strct **types.Named, out *[]Datum) ([]ssa.Value, bool) {
	if isWrapper(base.Type()) {
		// The field of a wrapper is the wrapped value; the wrapper's own name counts.
		if isNull(base.Type()) {
			if f, n := fieldBehind(base); f != nil {
				*out = append(*out, Datum{Field: f, Struct: n})
				return nil, true
			}
		}
		return []ssa.Value{base}, true
	}
	f := ir.FieldOf(base.Type(), i)
	n := ir.NamedOf(base.Type())
	if f == nil {
		return nil, false
	}
	if *field == nil {
		*field, *strct = f, n
	}
	switch {
	case r.Stored != nil:
		if t, c, ok := r.Stored(f); ok {
			*out = append(*out, Datum{Table: t, Column: c, Field: f, Struct: n})
			return nil, true
		}
	}
	if IsStoredField(base.Type(), i, f, n) && !r.madeHere(f, n) {
		d := Datum{Field: f, Struct: n, Column: columnTag(base.Type(), i)}
		if d.Column == "" {
			d.Column = attribute(base)
		}
		d.Request = r.brought(base)
		if c, _ := r.readOf(base); c != nil {
			d.Read, d.Handle = c, sink.Receiver(&c.Call)
			if s, ok := r.Sink.Spec(&c.Call); ok {
				d.Spec = s
				if k := sink.Arg(&c.Call, s.Key); k != nil {
					d.KeyValue = k
					d.Key = strings.ReplaceAll(first(r.Sink.Keys(k)), sqlstmt.Hole, "…")
				}
			}
		}
		*out = append(*out, d)
		return nil, true
	}
	// An untagged field of what a store's reader returned.
	if c, filled := r.readOf(base); c != nil && (filled || r.isRead(c)) {
		*out = append(*out, Datum{Field: f, Struct: n, Read: c, Handle: sink.Receiver(&c.Call)})
		return nil, true
	}
	return nil, false
}

// attribute returns the constant key under which a struct was looked up in a map:
// item["Owner"].(*types.AttributeValueMemberS).
func attribute(base ssa.Value) string {
	for range 6 {
		switch x := base.(type) {
		case *ssa.TypeAssert:
			base = x.X
		case *ssa.Extract:
			switch t := x.Tuple.(type) {
			case *ssa.TypeAssert:
				base = t.X
			case *ssa.Lookup:
				base = t
			default:
				return ""
			}
		case *ssa.Lookup:
			if k, ok := x.Index.(*ssa.Const); ok && k.Value != nil && k.Value.Kind() == constant.String {
				return constant.StringVal(k.Value)
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// columnTag returns the column that a field's db or gorm tag names.
func columnTag(t types.Type, i int) string {
	tag := reflect.StructTag(ir.TagOf(t, i))
	if name, _, _ := strings.Cut(tag.Get("db"), ","); name != "" && name != "-" {
		return name
	}
	for part := range strings.SplitSeq(tag.Get("gorm"), ";") {
		if name, ok := strings.CutPrefix(part, "column:"); ok {
			return name
		}
	}
	return ""
}

// madeHere tells whether a field that has an encoding tag is nevertheless this
// process's own: every value it gets in this package is from the monotonic clock,
// and nothing here decodes its struct. Then the tag is there to tell others.
func (r *Reader) madeHere(f *types.Var, n *types.Named) bool {
	stores := r.Pkg.Stores(f)
	if len(stores) == 0 || len(r.Pkg.Outs(f)) > 0 || r.Now == nil || r.isDecoded(n) {
		return false
	}
	for _, s := range stores {
		if c, ok := s.Store.Val.(*ssa.Const); ok && c.Value == nil {
			continue
		}
		if !r.Now(s.Store.Val) {
			return false
		}
	}
	return true
}

// isDecoded tells whether a call of this package fills a value of struct n, or
// of a struct or slice around it.
func (r *Reader) isDecoded(n *types.Named) bool {
	if r.decoded == nil {
		r.decoded = map[*types.Named]bool{}
		for _, fn := range r.Pkg.Funcs {
			for _, b := range fn.Blocks {
				for _, in := range b.Instrs {
					c, ok := in.(*ssa.Call)
					if !ok {
						continue
					}
					if obj := ir.Object(&c.Call); obj == nil || !fills[obj.Name()] {
						continue
					}
					for _, a := range c.Call.Args {
						r.markDecoded(address(a).Type(), 0)
						vals, _ := origin.Variadic(r.Pkg, a)
						for _, v := range vals {
							r.markDecoded(address(v).Type(), 0)
						}
					}
				}
			}
		}
	}
	return r.decoded[n]
}

func (r *Reader) markDecoded(t types.Type, depth int) {
	if depth > 6 {
		return
	}
	if n := ir.NamedOf(t); n != nil {
		if r.decoded[n] {
			return
		}
		r.decoded[n] = true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		r.markDecoded(u.Elem(), depth+1)
	case *types.Slice:
		r.markDecoded(u.Elem(), depth+1)
	case *types.Map:
		r.markDecoded(u.Elem(), depth+1)
	case *types.Struct:
		for i := range u.NumFields() {
			r.markDecoded(u.Field(i).Type(), depth+1)
		}
	}
}

func isNull(t types.Type) bool {
	n := ir.NamedOf(t)
	return n != nil && n.Obj().Pkg() != nil && (n.Obj().Pkg().Path() == "database/sql" || strings.Contains(n.Obj().Pkg().Path(), "pgtype"))
}

// fieldBehind returns the field a wrapper value is kept in.
func fieldBehind(v ssa.Value) (*types.Var, *types.Named) {
	for range 6 {
		switch x := v.(type) {
		case *ssa.UnOp:
			v = x.X
		case *ssa.FieldAddr:
			return ir.FieldOf(x.X.Type(), x.Field), ir.NamedOf(x.X.Type())
		case *ssa.Field:
			return ir.FieldOf(x.X.Type(), x.Field), ir.NamedOf(x.X.Type())
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// IsStoredField tells whether field i of struct type t is by its own declaration
// something that is stored or sent: it has an encoding tag, or its struct is a
// store's answer.
func IsStoredField(t types.Type, i int, f *types.Var, n *types.Named) bool {
	if n != nil && n.Obj().Pkg() != nil && storeTypes[n.Obj().Pkg().Path()] {
		return true
	}
	tag := reflect.StructTag(ir.TagOf(t, i))
	for _, k := range tagKeys {
		if s, ok := tag.Lookup(k); ok && s != "-" && !strings.HasPrefix(s, "-,") {
			return true
		}
	}
	return false
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
	if sig.Recv() != nil && receiverOnly[obj.Name()] && !inPackage(r.Pkg, c) {
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

func hasMethod(n *types.Named, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), name)
	_, ok := obj.(*types.Func)
	return ok
}

func fieldNamed(n *types.Named, name string) *types.Var {
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() == name {
			return s.Field(i)
		}
	}
	return nil
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
	if spec, ok := r.Sink.Spec(&c.Call); ok && spec.Store == sink.SQL { // sqlx.Get(&row, "SELECT ...")
		r.describe(&d, c, -1)
		return d, true
	}
	if obj.Name() != "Scan" {
		return d, true
	}
	args := c.Call.Args
	if len(args) == 0 {
		return d, true
	}
	dests, _ := origin.Variadic(r.Pkg, args[len(args)-1])
	col := slices.IndexFunc(dests, func(v ssa.Value) bool { return address(v) == addr })
	if recv := sink.Receiver(&c.Call); recv != nil {
		if q := r.queryOf(recv); q != nil {
			r.describe(&d, q, col)
		} else if table, columns, ok := r.Sink.SelectOf(recv); ok {
			d.Table = table
			if col >= 0 && col < len(columns) {
				d.Column = columns[col]
			}
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
	site := r.Sink.Site(q)
	if site == nil {
		return
	}
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

// fromRequest tells whether v is, or was read from, an incoming request.
func (r *Reader) fromRequest(v ssa.Value) bool {
	found := false
	r.Trace.Walk(v, func(v, out ssa.Value) ([]ssa.Value, bool) {
		if IsRequestType(v.Type()) {
			found = true
			return nil, true
		}
		switch v := v.(type) {
		case *ssa.FieldAddr, *ssa.Field:
			found = found || partOfRequest(v)
		case *ssa.Call:
			if _, ok := r.Sink.Spec(&v.Call); ok {
				return nil, true // what a store answers, whatever it was asked for
			}
			if callee := ir.Callee(&v.Call); out == nil && (callee == nil || callee.Pkg != r.Pkg.SSA) {
				return v.Call.Args, true
			}
		}
		if isContext(v.Type()) {
			return nil, true // r.Context() brings no data
		}
		return nil, found
	})
	return found
}

func isContext(t types.Type) bool { return ir.IsNamed(t, "context", "Context") }

// partOfRequest tells whether a field, or one of those it is read through, belongs
// to a request: r.URL.Path.
func partOfRequest(v ssa.Value) bool {
	for range 8 {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.Field:
			v = x.X
		case *ssa.UnOp:
			v = x.X
		default:
			return false
		}
		if IsRequestType(v.Type()) {
			return true
		}
	}
	return false
}

// brought tells whether base, a struct or a pointer to one, is part of a request
// or was filled from one, by whatever function.
func (r *Reader) brought(base ssa.Value) bool {
	if IsRequestType(base.Type()) || r.fromRequest(base) {
		return true
	}
	found := false
	r.Trace.Walk(base, func(v, out ssa.Value) ([]ssa.Value, bool) {
		if c, ok := v.(*ssa.Call); ok && out != nil {
			found = found || slices.ContainsFunc(c.Call.Args, r.fromRequest) || c.Call.IsInvoke() && r.fromRequest(c.Call.Value)
			return nil, true
		}
		return nil, found
	})
	return found
}

// FromRequest tells whether v came in through a request or a message handler.
func (r *Reader) FromRequest(v ssa.Value) bool { return r.fromRequest(v) }

// requestTypes are what handlers get.
var requestTypes = map[string]bool{
	"net/http.Request": true, "github.com/gin-gonic/gin.Context": true, "github.com/labstack/echo/v4.Context": true,
	"github.com/gofiber/fiber/v2.Ctx": true, "net/url.Values": true, "github.com/valyala/fasthttp.RequestCtx": true,
	"mime/multipart.Form": true, "net/rpc.Request": true, "github.com/gorilla/websocket.Conn": true,
}

// IsRequestType tells whether t is an incoming request or part of one: a
// handler's request, or a protobuf message whose name ends in Request.
func IsRequestType(t types.Type) bool {
	n := ir.NamedOf(t)
	if n == nil || n.Obj().Pkg() == nil {
		return false
	}
	name := n.Obj().Name()
	if requestTypes[n.Obj().Pkg().Path()+"."+name] {
		return true
	}
	return strings.HasSuffix(name, "Request") && hasMethod(n, "ProtoReflect")
}
