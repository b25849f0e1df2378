package sink

// This file knows builders whose statements are not rebuilt: what they write is out of
// sight, but that they write, and often to which table, is not.

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// An opaque builder has methods that write, by "Type.Name", and methods that name the
// table. Its models are structs whose name, in snake case, is the table's, unless they
// have a method TableName.
type opaque struct {
	ends   map[string]string // to the verb
	tables map[string]bool
	models bool
}

// opaques are these builders by import path.
var opaques = map[string]opaque{
	"github.com/doug-martin/goqu/v9": {
		ends:   map[string]string{"UpdateDataset.Executor": "UPDATE", "DeleteDataset.Executor": "DELETE", "InsertDataset.Executor": "INSERT"},
		tables: map[string]bool{"Update": true, "Delete": true, "Insert": true, "From": true, "Into": true, "Table": true},
	},
	"xorm.io/xorm": {
		ends: map[string]string{"Engine.Update": "UPDATE", "Session.Update": "UPDATE", "Engine.Delete": "DELETE", "Session.Delete": "DELETE",
			"Engine.Insert": "INSERT", "Session.Insert": "INSERT", "Engine.InsertOne": "INSERT", "Session.InsertOne": "INSERT"},
		tables: map[string]bool{"Table": true},
		models: true,
	},
	"github.com/upper/db/v4": {
		ends: map[string]string{"Result.Update": "UPDATE", "Result.Delete": "DELETE", "Collection.Insert": "INSERT",
			"Collection.InsertReturning": "INSERT", "Collection.UpdateReturning": "UPDATE"},
		tables: map[string]bool{"Collection": true},
	},
}

// opaqueSite returns the write that ends the chain of such a builder, with all but its
// table out of sight.
func (r *Reader) opaqueSite(call ssa.CallInstruction) *Site {
	c := call.Common()
	obj := ir.Object(c)
	if obj == nil || obj.Pkg() == nil || Receiver(c) == nil {
		return nil
	}
	o, ok := opaques[obj.Pkg().Path()]
	if !ok {
		return nil
	}
	verb := o.ends[receiverName(obj.Type().(*types.Signature))+"."+obj.Name()]
	if verb == "" {
		return nil
	}
	return r.built(call, []query{{verb: verb, table: r.opaqueTable(o, call), vague: true, handle: Receiver(c)}})
}

// opaqueTable reads the table from the chain, or else from the model.
func (r *Reader) opaqueTable(o opaque, call ssa.CallInstruction) string {
	path, table := ir.Object(call.Common()).Pkg().Path(), ""
	r.Trace.Walk(Receiver(call.Common()), func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || out != nil {
			return nil, out != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != path {
			return nil, false
		}
		if a := Arg(&c.Call, 0); o.tables[obj.Name()] && a != nil && table == "" {
			table = r.opaqueName(a)
		}
		if recv := Receiver(&c.Call); recv != nil {
			return []ssa.Value{recv}, true
		}
		return nil, true
	})
	if table == "" && o.models {
		table = r.opaqueName(Arg(call.Common(), 0))
	}
	return table
}

// opaqueName is the table that an argument names: by a text or by a model, alone or
// the first of a list.
func (r *Reader) opaqueName(a ssa.Value) string {
	if a == nil {
		return ""
	}
	if vals := listOf(a); len(vals) > 0 {
		a = vals[0]
	}
	a = plain(a)
	if t, ok := r.only(a); ok {
		table, _ := tableName(t)
		return table
	}
	n := structOf(a.Type())
	if n == nil {
		return ""
	}
	name, has := r.tableMethod(n)
	if has {
		return name
	}
	if id := ident(snake(n.Obj().Name())); id != sqlstmt.Hole {
		return id
	}
	return ""
}
