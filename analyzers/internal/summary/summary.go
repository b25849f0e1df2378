// Package summary answers one question: what does a function do to its callers?
//
// Answers are facts: symbolic, small, sorted, and the same whatever fence.yaml
// says. What is protected is decided in the package that reports.
package summary

import (
	"go/types"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Func is the fact about one function or method.
type Func struct {
	Writes    []Write           // plain store writes it makes, itself or through others
	Proofs    []authority.Proof // results that prove ownership
	OwnerArgs []int             // function-typed parameters it calls only as owner
	Text      *sink.Spec        // it passes a parameter on as SQL text or as a script
	Clock     Clock             // its result is this process's time
	Reads     bool              // its result was read from a store
	Binds     []Bind            // time parameters it compares with a stored expiry
	Ages      []int             // time parameters it compares with this process's clock
	Locks     bool              // it locks rows in a transaction that its caller goes on with
	Compares  bool              // it makes a write that compares, or that may
	Returns   []string          // the statements it renders, with sqltext's marks for its parameters
	Members   []Member          // the texts it puts into the struct that it returns
	Sent      []Sent            // the statements that it sends and that are for its callers to be judged by

	joined bool // over all implementations of an interface; never part of a fact
}

// Member is the text of a field of the struct that a function returns, with sqltext's
// marks for its parameters.
type Member struct{ Field, Text string }

// Sent is one statement that a function sends, for its caller to be judged by: nobody
// edits the function itself, which is generated, or only the caller knows whether it
// is in a transaction.
type Sent struct {
	Text    string
	Style   sqlstmt.Style
	Partial bool   // the text is out of sight in part
	At      string // import path, file and line, for a message

	also []string // other implementations of the interface that send it; never part of a fact
}

// Places returns where the statement is sent: import path, file and line.
func (s Sent) Places() []string { return append([]string{s.At}, s.also...) }

// Mark says, for a message, what only fence check can know: nothing, or that the
// summary was joined over the implementations of an interface.
func (f *Func) Mark() string {
	if f.joined {
		return ", via interface"
	}
	return ""
}

// Write is one plain store write of a function.
type Write struct {
	Store      sink.Store
	Verb       string
	Target     string
	Remove     bool
	Insert     bool
	StrictOnly bool
	Reported   bool   // it follows a check in its own function, which is where it is reported
	Takes      bool   // it stores an owner, an end or a "taken" flag, as one who takes a lock does
	Key        string // of a key-value store, if it is a constant
	API        string // of a store that is no database: the function called, as in go doc
	At         string // import path, file and line, for a message

	joined bool // reached through an interface; never part of a fact
}

// Mark says, for a message, that only fence check can know of the write.
func (w Write) Mark() string {
	if w.joined {
		return ", via interface"
	}
	return ""
}

// Clock says whether a function returns this process's time.
type Clock int8

// The clocks.
const (
	NoClock Clock = iota
	Monotonic
	Wall // the monotonic reading is gone
)

// Bind says that parameter Param, a time, decides the stored expiry What.
type Bind struct {
	Param int
	What  string
	At    string
}

// AFact marks Func as a fact.
func (*Func) AFact() {}

func (f *Func) String() string { return "summary" }

// Empty tells whether there is nothing to say.
func (f *Func) Empty() bool {
	return len(f.Writes)+len(f.Proofs)+len(f.OwnerArgs)+len(f.Binds)+len(f.Ages) == 0 && f.Text == nil && f.Clock == NoClock && !f.Reads && !f.Locks && !f.Compares && len(f.Sent)+len(f.Returns)+len(f.Members) == 0
}

// Stored is the fact about a struct field that is scanned from a column.
type Stored struct{ Table, Column string }

// AFact marks Stored as a fact.
func (*Stored) AFact() {}

func (s *Stored) String() string { return "stored " + s.Table + "." + s.Column }

// Lookup finds facts of objects of other packages.
type Lookup interface {
	Func(*types.Func) *Func
	Stored(*types.Var) *Stored
}
