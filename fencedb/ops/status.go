package ops

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// A Row is what is known of one resource. sqllease.Listing converts to it.
type Row struct {
	fencedb.Observation
	Rejected     int64     // how many writes are known to have been rejected for their token
	LastRejected time.Time // the latest; zero if there is none
}

// State says in a word how a resource stands: "held", "free", "delayed" while nobody holds it
// and nobody can be granted it yet, or "never granted".
func (r Row) State() string {
	switch {
	case r.Held:
		return "held"
	case r.TakeoverIn() > 0:
		return "delayed"
	case r.Token.IsZero():
		return "never granted"
	}
	return "free"
}

// Outcome says what happened to the last grant last: "granted", "renewed", or how it ended,
// "released", "broken" or "expired".
func (r Row) Outcome() string {
	switch {
	case r.End != "":
		return r.End
	case r.Renewals > 0:
		return "renewed"
	case r.Token.IsZero():
		return ""
	}
	return "granted"
}

// status is a Row in JSON. Times are the coordinator's; a duration is in seconds.
type status struct {
	Namespace   string       `json:"namespace"`
	Resource    string       `json:"resource"`
	State       string       `json:"state"`
	At          time.Time    `json:"at"`
	Owner       string       `json:"owner,omitempty"`
	Token       int64        `json:"token,omitempty"`
	Grant       string       `json:"grant,omitempty"`
	Granted     *time.Time   `json:"granted,omitempty"`
	Renewals    int64        `json:"renewals"`
	Renewed     *time.Time   `json:"renewed,omitempty"`
	LastOutcome string       `json:"last_outcome,omitempty"`
	Expires     *time.Time   `json:"expires,omitempty"`
	Remaining   remaining    `json:"remaining"`
	FreeIn      float64      `json:"free_in"`
	Predecessor *predecessor `json:"predecessor,omitempty"`
	Rejected    rejected     `json:"rejected"`
}

type remaining struct {
	Conservative float64 `json:"conservative"` // what the holder counts on, at most
	Store        float64 `json:"store"`        // when the coordinator ends it
}

type predecessor struct {
	Token   int64      `json:"token"`
	Owner   string     `json:"owner"`
	End     string     `json:"end"`
	Renewed *time.Time `json:"renewed,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
}

type rejected struct {
	Count int64      `json:"count"`
	Last  *time.Time `json:"last,omitempty"`
}

// WriteJSON writes the rows to w, one JSON object a line, in the order they have. Times are
// of the coordinator's clock, in UTC; durations are in seconds.
func WriteJSON(w io.Writer, rows []Row) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, r := range rows {
		conservative, store := r.Remaining()
		s := status{Namespace: r.Namespace, Resource: r.Resource, State: r.State(), At: r.At.UTC(), Owner: r.Owner, Token: r.Token.Value(),
			Grant: r.Token.Grant(), Granted: given(r.Granted), Renewals: r.Renewals, Renewed: given(r.Renewed), LastOutcome: r.Outcome(),
			Expires: given(r.Expires), Remaining: remaining{conservative.Seconds(), store.Seconds()}, FreeIn: r.TakeoverIn().Seconds(),
			Rejected: rejected{r.Rejected, given(r.LastRejected)}}
		if p := r.Predecessor; p.Value != 0 {
			s.Predecessor = &predecessor{p.Value, p.Owner, p.End, given(p.Renewed), given(p.Ended)}
		}
		if err := out.Encode(s); err != nil {
			return fmt.Errorf("writing the status of %s: %w", r.Resource, err)
		}
	}
	return nil
}

// given returns nil for the zero time, which JSON leaves out.
func given(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// WriteText writes the rows to w as a table for people, in the order they have. Durations
// count from the moment of the observation, by the coordinator's clock.
func WriteText(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RESOURCE\tSTATE\tOWNER\tTOKEN\tGRANTED\tRENEWALS\tLAST\tHOLDER HAS\tSTORE HAS\tFREE IN\tPREDECESSOR\tREJECTED")
	for _, r := range rows {
		conservative, store := r.Remaining()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", printable(r.Resource), r.State(), printable(r.Owner), number(r.Token.Value()),
			ago(r.At, r.Granted, ""), r.Renewals, last(r), span(conservative), span(store), span(r.TakeoverIn()), before(r.Predecessor),
			ago(r.At, r.LastRejected, strconv.FormatInt(r.Rejected, 10)))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// last is the last outcome and how long ago it came.
func last(r Row) string {
	switch r.Outcome() {
	case "renewed", "granted":
		return ago(r.At, r.Renewed, r.Outcome())
	case "released", "expired":
		return ago(r.At, r.Expires, r.Outcome())
	}
	return orDash(r.Outcome())
}

func before(p fencedb.Predecessor) string {
	if p.Value == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %s, %s", p.Value, printable(p.Owner), p.End)
}

// ago is what happened at t, with how long before at that was.
func ago(at, t time.Time, what string) string {
	if t.IsZero() {
		return orDash(what)
	}
	d := at.Sub(t).Round(100*time.Millisecond).String() + " ago"
	if what == "" {
		return d
	}
	return what + ", " + d
}

func span(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return d.Round(100 * time.Millisecond).String()
}

func number(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// printable is a name as it is, or quoted if it would break the table: an owner may be any
// text.
func printable(s string) string {
	if s == "" {
		return "-"
	}
	if quoted := strconv.Quote(s); quoted != `"`+s+`"` {
		return quoted
	}
	return s
}
