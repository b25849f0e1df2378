package sink

import "go/types"

// effects are calls that act outside every store: nothing there compares a
// token. They count only in a package that a store or a lease library has
// opened.
var effects = map[string]map[string]bool{
	"net/http": {"Post": true, "PostForm": true, "Do": true},
	"net/smtp": {"SendMail": true},
	"os": {"WriteFile": true, "Remove": true, "RemoveAll": true, "Rename": true, "Create": true, "OpenFile": true,
		"Truncate": true, "Mkdir": true, "MkdirAll": true},
	"os/exec": {"Run": true, "Start": true, "Output": true, "CombinedOutput": true},
}

// Effect tells whether a call of f acts outside the process in a place that is no
// store: an HTTP request, a mail, a file.
func Effect(f *types.Func) bool {
	return f != nil && f.Pkg() != nil && effects[f.Pkg().Path()][f.Name()]
}
