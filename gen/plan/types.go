package plan

import (
	"strings"

	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Go types that columns have.
var (
	goInt16   = Type{Name: "int16"}
	goInt32   = Type{Name: "int32"}
	goInt64   = Type{Name: "int64"}
	goUint16  = Type{Name: "uint16"}
	goUint32  = Type{Name: "uint32"}
	goUint64  = Type{Name: "uint64"}
	goFloat32 = Type{Name: "float32"}
	goFloat64 = Type{Name: "float64"}
	goBool    = Type{Name: "bool"}
	goString  = Type{Name: "string"}
	goBytes   = Type{Name: "[]byte", Nils: true}
	goAny     = Type{Name: "any", Nils: true}
	goTime    = Type{Import: "time", Name: "Time"}
	goJSON    = Type{Import: "encoding/json", Name: "RawMessage", Nils: true}
)

// goTypes are the Go types of each dialect's types. A type that Go has no exact one for,
// a number of any precision, a range, is a string in the database's own notation.
var goTypes = map[sqlstmt.Dialect]map[string]Type{
	sqlstmt.Postgres: {
		"smallint": goInt16, "int2": goInt16, "smallserial": goInt16, "serial2": goInt16,
		"integer": goInt32, "int": goInt32, "int4": goInt32, "serial": goInt32, "serial4": goInt32,
		"bigint": goInt64, "int8": goInt64, "bigserial": goInt64, "serial8": goInt64,
		"real": goFloat32, "float4": goFloat32, "double precision": goFloat64, "float8": goFloat64, "float": goFloat64,
		"boolean": goBool, "bool": goBool, "bytea": goBytes,
		"text": goString, "varchar": goString, "character varying": goString, "char": goString, "character": goString,
		"bpchar": goString, "citext": goString, "name": goString, "enum": goString, "uuid": goString,
		"numeric": goString, "decimal": goString, "money": goString, "interval": goString, "xml": goString,
		"time": goString, "time without time zone": goString, "timetz": goString, "time with time zone": goString,
		"inet": goString, "cidr": goString, "macaddr": goString, "macaddr8": goString,
		"dec": goString, "nchar": goString, "national character": goString, "national char": goString,
		"national character varying": goString, "national char varying": goString, "char varying": goString,
		"int4multirange": goString, "int8multirange": goString, "nummultirange": goString, "tsmultirange": goString, "tstzmultirange": goString, "datemultirange": goString,
		"bit": goString, "varbit": goString, "bit varying": goString, "tsvector": goString, "tsquery": goString,
		"ltree": goString, "hstore": goString, "jsonpath": goString, "oid": goUint32, "xid8": goUint64, "pg_lsn": goString, "pg_snapshot": goString, "txid_snapshot": goString,
		"int4range": goString, "int8range": goString, "numrange": goString, "tsrange": goString, "tstzrange": goString, "daterange": goString,
		"point": goString, "line": goString, "lseg": goString, "box": goString, "path": goString, "polygon": goString, "circle": goString,
		"date": goTime, "timestamp": goTime, "timestamp without time zone": goTime, "timestamptz": goTime, "timestamp with time zone": goTime,
		"json": goJSON, "jsonb": goJSON,
	},
	sqlstmt.MariaDB: mysqlTypes,
	sqlstmt.MySQL:   mysqlTypes,
}

var mysqlTypes = map[string]Type{
	"tinyint": goInt16, "smallint": goInt16, "mediumint": goInt32, "int": goInt32, "integer": goInt32, "bigint": goInt64,
	"tinyint unsigned": goUint16, "smallint unsigned": goUint16, "mediumint unsigned": goUint32,
	"int unsigned": goUint32, "integer unsigned": goUint32, "bigint unsigned": goUint64,
	"serial": goUint64, "bool": goBool, "boolean": goBool, "year": goInt16,
	"float": goFloat32, "double": goFloat64, "double precision": goFloat64, "real": goFloat64,
	"decimal": goString, "numeric": goString, "dec": goString, "fixed": goString,
	"char": goString, "varchar": goString, "nchar": goString, "nvarchar": goString, "national char": goString, "national varchar": goString,
	"character": goString, "character varying": goString, "tinytext": goString, "text": goString, "mediumtext": goString, "longtext": goString,
	"enum": goString, "set": goString, "json": goString, "uuid": goString, "inet4": goString, "inet6": goString, "time": goString,
	"binary": goBytes, "varbinary": goBytes, "tinyblob": goBytes, "blob": goBytes, "mediumblob": goBytes, "longblob": goBytes, "bit": goBytes,
	"date": goTime, "datetime": goTime, "timestamp": goTime,
}

// sqliteTypes decide by a part of the declared type, the first that is in it, as SQLite
// itself does (sqlite.org/datatype3.html, 3.1); those it gives a numeric affinity and
// programs a meaning come first.
var sqliteTypes = []struct {
	part string
	Type
}{
	{"bool", goBool}, {"date", goTime}, {"timestamp", goTime}, {"json", goString},
	{"int", goInt64}, {"serial", goInt64},
	{"char", goString}, {"clob", goString}, {"text", goString}, {"uuid", goString}, {"enum", goString}, {"time", goString}, {"string", goString},
	{"blob", goBytes}, {"bytea", goBytes}, {"binary", goBytes},
	{"real", goFloat64}, {"floa", goFloat64}, {"doub", goFloat64}, //nolint:misspell // it is how the name of the type starts
	{"numeric", goString}, {"decimal", goString}, {"any", goAny},
}

// goType is the Go type of a column.
func goType(d sqlstmt.Dialect, c *schema.Column) (Type, bool) {
	if d == sqlstmt.SQLite {
		return sqliteType(c.Type)
	}
	names := goTypes[d]
	if element, ok := elements(c.Base); ok {
		t, ok := names[unqualified(element)]
		if !ok || element == "box" { // whose arrays alone are written with semicolons
			return Type{}, false
		}
		return t.slice(), true
	}
	// MySQL's zerofill and the like follow the type.
	for _, name := range []string{c.Type, unqualified(c.Type), c.Base, unqualified(c.Base)} {
		if t, ok := names[name]; ok {
			return t, true
		}
	}
	return Type{}, false
}

func sqliteType(name string) (Type, bool) {
	if name == "" {
		return goAny, true
	}
	for _, t := range sqliteTypes {
		if strings.Contains(strings.ToLower(name), t.part) {
			return t.Type, true
		}
	}
	return Type{}, false
}

// elements is the type of the elements of an array; dimensions are no part of a type.
func elements(name string) (element string, ok bool) {
	for element = name; strings.HasSuffix(element, "[]"); {
		element = strings.TrimSuffix(element, "[]")
	}
	return element, element != name
}

// slice is the type of slices of t.
func (t Type) slice() Type {
	t.Name, t.Nils = "[]"+t.Name, true
	return t
}

// bind is how a value of type t gets into a column of c's type.
func bind(d sqlstmt.Dialect, c *schema.Column, t Type) Bind {
	_, array := elements(c.Base)
	switch {
	case array && strings.HasPrefix(t.Name, "[]") && d == sqlstmt.Postgres:
		return ArrayOf
	case t.Import == goTime.Import && t.Name == goTime.Name:
		return shownAs[d][c.Base]
	}
	return ""
}

// shownAs are the types that hold what a time shows in its zone. A datetime of MySQL is not
// one of them: its driver reads it in the zone in which it writes.
var shownAs = map[sqlstmt.Dialect]map[string]Bind{
	sqlstmt.Postgres: {"date": DayOf, "timestamp": ClockOf, "timestamp without time zone": ClockOf},
	sqlstmt.MariaDB:  {"date": DayOf},
	sqlstmt.MySQL:    {"date": DayOf},
}

// bindable tells whether a driver of database/sql can send a value of the type: of slices
// none sends others than bytes, and such a type has no method that would help.
func (t Type) bindable() bool {
	return t.Bind != "" || !strings.HasPrefix(t.Name, "[]") || t.Import == "" && (t.Name == "[]byte" || t.Name == "[]uint8")
}

// text tells whether values of the type are texts.
func (t Type) text() bool { return t == goString || t.Enum != nil && !t.Nils }

// unqualified is a type's name without pg_catalog or the schema of an extension.
func unqualified(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}

// parseType reads the name of a Go type: string, []byte, path/to/pkg.Type.
func parseType(text string) Type {
	name := strings.TrimLeft(text, "*[]")
	prefix := text[:len(text)-len(name)]
	path, base := "", name
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		path, base = name[:dot], name[dot+1:]
	}
	return Type{Import: path, Name: prefix + base, Nils: prefix != "" || text == "any" || text == "encoding/json.RawMessage"}
}

// Orders tells whether a column of the type can hold a token's number.
func orders(d sqlstmt.Dialect, c *schema.Column) bool {
	t, ok := goType(d, c)
	if d == sqlstmt.Postgres {
		return ok && t == goInt64 // an xid8 has 64 bits too, and compares with no number
	}
	return ok && (t == goInt64 || t == goUint64)
}
