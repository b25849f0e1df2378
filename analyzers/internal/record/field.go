package record

// This file tells which struct fields hold something stored.

import (
	"go/constant"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

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

func (r *Reader) field(base ssa.Value, i int, field **types.Var, strct **types.Named, out *[]Datum) ([]ssa.Value, bool) {
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
	if (IsStoredField(base.Type(), i, n) || r.collected(n)) && !r.madeHere(f, n) {
		d := Datum{Field: f, Struct: n, Column: columnTag(base.Type(), i)}
		if d.Column == "" {
			d.Column = attribute(base)
		}
		d.Request = r.brought(base)
		if c, _ := r.readOf(base); c != nil {
			d.Read, d.Handle = c, sink.Receiver(&c.Call)
			if obj := ir.Object(&c.Call); obj != nil && obj.Name() == "Leader" && obj.Pkg() != nil && lease.Known(obj.Pkg().Path()) {
				d.Key = "the election's leader"
			}
			if s, ok := r.Sink.Spec(&c.Call); ok {
				d.Spec = s
				if k := sink.Arg(&c.Call, s.Key); k != nil {
					d.KeyValue = k
					d.Key = strings.ReplaceAll(first(r.Sink.Keys(k)), sqlstmt.Hole, "…")
				} else if site := r.Sink.Site(c); s.Input >= 0 && site != nil && lease.IsLockKey(first(site.Texts)) {
					d.Key = first(site.Texts) // the request's table or object
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

// collected tells whether pgx fills struct n from rows in this package:
// pgx.CollectRows(rows, pgx.RowToStructByName[T]).
func (r *Reader) collected(n *types.Named) bool {
	if n == nil || !r.Pkg.Calls("CollectRows") && !r.Pkg.Calls("CollectOneRow") && !r.Pkg.Calls("CollectExactlyOneRow") {
		return false
	}
	if r.rowTypes == nil {
		r.rowTypes = map[*types.Named]bool{}
		for _, inst := range r.Pkg.Info.Instances {
			list := inst.TypeArgs
			sig, ok := inst.Type.(*types.Signature)
			if !ok || sig.Params().Len() != 1 || !ir.IsNamed(sig.Params().At(0).Type(), "github.com/jackc/pgx/v5", "CollectableRow") {
				continue
			}
			for i := range list.Len() {
				if t := ir.NamedOf(list.At(i)); t != nil {
					r.rowTypes[t] = true
				}
			}
		}
	}
	return r.rowTypes[n]
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
						vals, _ := origin.Variadic(a)
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
func IsStoredField(t types.Type, i int, n *types.Named) bool {
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
