package config

// verb is what one directive may say in one language.
type verb struct {
	name    string
	args    []string            // the words it takes; nil with anyArgs false: none
	anyArgs bool                // it takes names of the user's own, at least one
	options map[string][]string // the key=value words it takes, with their values; nil values: any
	example string
}

// goVerbs are the directives of a Go declaration.
var goVerbs = []verb{
	{name: "protect", options: map[string][]string{"resource": nil}, example: "//fence:protect"},
	{name: "token", options: map[string][]string{"rule": ruleWords}, example: "//fence:token"},
	{name: "lease", example: "//fence:lease"},
	{name: "check", example: "//fence:check"},
	{name: "write", anyArgs: true, example: "//fence:write orders"},
	{name: "effect", args: []string{"idempotent"}, example: "//fence:effect idempotent"},
}

// sqlVerbs are the directives of a table or column.
var sqlVerbs = []verb{
	{name: "protect", options: map[string][]string{"resource": nil, "guard": nil}, example: "-- fence:protect resource=orders:{region}"},
	{name: "token", options: map[string][]string{"rule": ruleWords}, example: "-- fence:token rule=equal"},
	{name: "expiry", example: "-- fence:expiry"},
}

var ruleWords = []string{string(Monotonic), string(Equal)}

// foreign explains a verb that exists in the other language only.
var foreign = map[string]string{
	"lease":  "it stands on a Go declaration",
	"check":  "it stands on a Go declaration",
	"write":  "it stands on a Go declaration",
	"effect": "it stands on a Go declaration",
	"expiry": "it stands on an SQL column; name a Go field under leases: expiries in " + FileName,
}
