package config

import (
	"fmt"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// syntax says what is wrong with a text, and what to write instead; an empty
// msg accepts it.
type syntax func(text string) (msg, hint string)

// printable refuses what no name contains, whatever it names.
func printable(text string) (msg, hint string) {
	if text == "" {
		return "empty", "give it a value or remove it"
	}
	if strings.TrimSpace(text) != text {
		return fmt.Sprintf("%q has blanks around it", brief(text)), "remove them"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) {
		return fmt.Sprintf("%q contains a control character", brief(text)), ""
	}
	return "", ""
}

// goHints explains the spellings other tools print and this file does not read.
var goHints = []struct{ part, hint string }{
	{"(", "write path.Type.Method, without parentheses and star"},
	{"*", "write path.Type.Method, without parentheses and star"},
	{"[", "leave type arguments out"},
	{" ", "a name has no blanks"},
	{"#", "write path.Type.Method with dots"},
	{"...", "name one object, not a pattern"},
}

// goName accepts path/to/pkg.Ident(.Ident)*, as in go doc. A package whose last
// path element has dots (gopkg.in/yaml.v3.Node) passes too: only the loader can
// tell where the path ends.
func goName(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	bad := fmt.Sprintf("%q is not the name of a Go object", brief(text))
	for _, h := range goHints {
		if strings.Contains(text, h.part) {
			return bad, h.hint
		}
	}
	slash := strings.LastIndexByte(text, '/')
	last := strings.Split(text[slash+1:], ".")
	if len(last) < 2 || (slash >= 0 && !importPath.MatchString(text[:slash])) || !importElement.MatchString(last[0]) {
		return bad, "write path/to/pkg.Func, path/to/pkg.Type.Method or path/to/pkg.Type.Field"
	}
	for i, part := range last[1:] {
		if !token.IsIdentifier(part) && (i == len(last)-2 || !importElement.MatchString(part)) {
			return bad, fmt.Sprintf("%q is not a Go identifier", part)
		}
	}
	return "", ""
}

// goOrColumn accepts what goName and columnPath accept.
func goOrColumn(text string) (msg, hint string) {
	if msg, _ = columnPath(text); msg == "" {
		return "", ""
	}
	msg, hint = goName(text)
	if strings.HasPrefix(hint, "write path/to") {
		hint += ", or table.column"
	}
	return msg, hint
}

// columnPath accepts table.column and schema.table.column.
func columnPath(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	parts := strings.Split(text, ".")
	if len(parts) < 2 || len(parts) > 3 || strings.ContainsAny(text, "/()*[]") || hasEmpty(parts) {
		return fmt.Sprintf("%q is not a column", brief(text)), "write table.column"
	}
	return "", ""
}

// tableName accepts table and schema.table.
func tableName(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	if parts := strings.Split(text, "."); len(parts) > 2 || hasEmpty(parts) {
		return fmt.Sprintf("%q is not a table", brief(text)), "write table or schema.table"
	}
	return "", ""
}

// columnName accepts a column without its table.
func columnName(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	if strings.Contains(text, ".") {
		return fmt.Sprintf("%q is not a column name", brief(text)), "write the column alone, without its table"
	}
	return "", ""
}

var (
	importPath    = regexp.MustCompile(`^[\pL\pN_.~+-]+(/[\pL\pN_.~+-]+)*$`)
	importElement = regexp.MustCompile(`^[\pL\pN_~+-]+$`)
	headerName    = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]+$")
)

// packagePattern accepts an import path, or one with /... for it and everything
// below it.
func packagePattern(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	p := strings.TrimSuffix(text, "/...")
	if !importPath.MatchString(p) || path.Clean(p) != p || strings.HasPrefix(p, ".") || strings.Contains(p, "...") {
		return fmt.Sprintf("%q is not an import path", brief(text)), "write example.com/app/worker, or example.com/app/... for everything below"
	}
	return "", ""
}

// header accepts the name of an HTTP header.
func header(text string) (msg, hint string) {
	if !headerName.MatchString(text) {
		return fmt.Sprintf("%q is not the name of a header", brief(text)), `write a name such as "Idempotency-Key"`
	}
	return "", ""
}

// schemaPath accepts a path of files; which of them exist only Load can say.
func schemaPath(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	if strings.ContainsAny(text, "*?[") {
		return fmt.Sprintf("%q is a pattern", brief(text)), "name the directory: all its *.sql are read"
	}
	return "", ""
}

// glob accepts a pattern Config.Excludes can match.
func glob(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "../") || strings.Contains(text, `\`) {
		return fmt.Sprintf("%q is not a path below this directory", brief(text)), "write a pattern with slashes such as internal/legacy/**"
	}
	if _, err := path.Match(text, ""); err != nil {
		return fmt.Sprintf("%q is not a pattern", brief(text)), "look for a missing ]"
	}
	return "", ""
}

// packageName accepts what may stand after the word package.
func packageName(text string) (msg, hint string) {
	if !token.IsIdentifier(text) || text == "_" {
		return fmt.Sprintf("%q is not a package name", brief(text)), "write a Go identifier such as ordersdb"
	}
	return "", ""
}

// predeclared are the types of Go that a column can have.
var predeclared = map[string]bool{
	"any": true, "bool": true, "string": true, "byte": true, "float32": true, "float64": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
}

// goType accepts a predeclared type, path/to/pkg.Type, and slices of them.
func goType(text string) (msg, hint string) {
	name := strings.TrimPrefix(text, "[]")
	if predeclared[name] {
		return "", ""
	}
	bad := fmt.Sprintf("%q is not a Go type", brief(text))
	if strings.ContainsAny(name, "*[]") {
		return bad, "leave the pointer out: a column that may be NULL gets one"
	}
	if msg, _ := goName(name); msg != "" || strings.Count(name[strings.LastIndexByte(name, '/')+1:], ".") != 1 {
		return bad, "write string, int64, []byte or path/to/pkg.Type"
	}
	return "", ""
}

// localDir accepts a directory below the file's own.
func localDir(text string) (msg, hint string) {
	if msg, hint = printable(text); msg != "" {
		return msg, hint
	}
	if !filepath.IsLocal(filepath.FromSlash(text)) {
		return fmt.Sprintf("%q is not below this directory", brief(text)), "write a relative path such as internal/ordersdb"
	}
	return "", ""
}

func hasEmpty(parts []string) bool {
	for _, p := range parts {
		if strings.TrimSpace(p) == "" {
			return true
		}
	}
	return false
}
