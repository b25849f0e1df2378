// Package metrics says what fence measures, for whichever library measures it: the
// catalogue ([All]) is the one table of names, units and labels from which modules
// promfence and otelfence make their instruments and docs/observability.md its text, and a
// [Recorder] turns the receipts of a [fencedb.Observer] into calls of a [Sink].
//
// # Labels
//
// Every label is bounded, whatever resources, owners and tokens there are. Most have values
// that are listed here. Those that a program chooses, which are namespace, table and
// lease_class, take [MaxValues] different values in one Recorder and then [Other]. A
// resource is never a label: there may be one for each order. Decisions of guards are
// labelled with the table that compared instead, which the schema bounds. What is about one
// grant goes into exemplars, span attributes and logs.
package metrics
