package finding_test

import (
	"strings"
	"testing"

	"github.com/fencelint/fence/internal/finding"
)

func TestGitHub(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*finding.Finding)
		want string
	}{
		"plain": {
			func(*finding.Finding) {},
			"::error file=a.go,line=3,endLine=3,col=2,endColumn=9,title=unfencedwrite::message",
		},
		"a warning": {
			func(f *finding.Finding) { f.Severity = finding.Warning },
			"::warning file=a.go,line=3,endLine=3,col=2,endColumn=9,title=unfencedwrite::message",
		},
		"a message that looks like a command": {
			func(f *finding.Finding) { f.Message = "100%,\r\n::error file=b.go::%0A" },
			"::error file=a.go,line=3,endLine=3,col=2,endColumn=9,title=unfencedwrite::100%25,%0D%0A::error file=b.go::%250A",
		},
		"names that look like properties": {
			func(f *finding.Finding) {
				f.Location.File, f.End.File, f.Code = "a,line=1:%\r\n.go", "a,line=1:%\r\n.go", "x::y,z"
			},
			"::error file=a%2Cline=1%3A%25%0D%0A.go,line=3,endLine=3,col=2,endColumn=9,title=x%3A%3Ay%2Cz::message",
		},
		"several lines": {
			func(f *finding.Finding) { f.End.Line = 5 },
			"::error file=a.go,line=3,endLine=5,title=unfencedwrite::message",
		},
		"no end": {
			func(f *finding.Finding) { f.End = f.Location },
			"::error file=a.go,line=3,col=2,title=unfencedwrite::message",
		},
		"no column": {
			func(f *finding.Finding) { f.Location.Column = 0; f.End = f.Location },
			"::error file=a.go,line=3,title=unfencedwrite::message",
		},
		"related places": {
			func(f *finding.Finding) {
				f.Related = []finding.Related{{Location: finding.Place{File: "b:1.go", Line: 7, Column: 8}, Message: "50%, here"}}
			},
			"::error file=a.go,line=3,endLine=3,col=2,endColumn=9,title=unfencedwrite::message%0Ab:1.go:7:8: 50%25, here",
		},
	} {
		f := write()
		test.edit(&f)
		var out strings.Builder
		if err := finding.WriteGitHub(&out, []finding.Finding{f}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != test.want+"\n" {
			t.Errorf("%s:\n got %swant %s", name, got, test.want)
		}
	}
}
