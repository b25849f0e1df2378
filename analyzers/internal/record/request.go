package record

// This file tells what came in with a request.

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

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
