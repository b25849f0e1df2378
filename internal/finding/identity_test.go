package finding_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fencelint/fence/internal/finding"
)

func write() finding.Finding {
	return finding.Finding{
		Code:      "unfencedwrite",
		Severity:  finding.Error,
		Location:  finding.Place{File: "a.go", Line: 3, Column: 2},
		End:       finding.Place{File: "a.go", Line: 3, Column: 9},
		Message:   "message",
		Package:   "example.com/a",
		Function:  "Store.Finish",
		Statement: "db.Exec(q)",
		Resource:  "orders",
	}
}

// The identity is in users' baselines: a change needs a new scheme.
func TestIDIsPinned(t *testing.T) {
	const want = "bc762722233918ec978a0a458fa3f0da"
	if got := write().ID(); got != want {
		t.Errorf("ID = %s, want %s", got, want)
	}
}

func TestIDSurvives(t *testing.T) {
	for name, edit := range map[string]func(*finding.Finding){
		"a line above":      func(f *finding.Finding) { f.Location.Line++; f.End.Line++ },
		"indentation":       func(f *finding.Finding) { f.Location.Column++ },
		"another file":      func(f *finding.Finding) { f.Location.File = "b.go" },
		"a better message":  func(f *finding.Finding) { f.Message = "better" },
		"another severity":  func(f *finding.Finding) { f.Severity = finding.Warning },
		"a related place":   func(f *finding.Finding) { f.Related = []finding.Related{{Message: "here"}} },
		"a longer argument": func(f *finding.Finding) { f.End.Column++ },
	} {
		f := write()
		edit(&f)
		if f.ID() != write().ID() {
			t.Errorf("%s makes it another finding", name)
		}
	}
}

func TestIDTellsApart(t *testing.T) {
	seen := map[string]string{write().ID(): "the original"}
	for name, edit := range map[string]func(*finding.Finding){
		"check":     func(f *finding.Finding) { f.Code = "checkthenwrite" },
		"package":   func(f *finding.Finding) { f.Package = "example.com/b" },
		"function":  func(f *finding.Finding) { f.Function = "Store.Start" },
		"statement": func(f *finding.Finding) { f.Statement = "db.Exec(r)" },
		"resource":  func(f *finding.Finding) { f.Resource = "items" },
		"ordinal":   func(f *finding.Finding) { f.Ordinal = 1 },
		"shifted":   func(f *finding.Finding) { f.Function, f.Statement = "", f.Function+f.Statement },
	} {
		f := write()
		edit(&f)
		if other, ok := seen[f.ID()]; ok {
			t.Errorf("%s and %s have the same identity", name, other)
		}
		seen[f.ID()] = name
	}
}

func TestNumber(t *testing.T) {
	at := func(line int, statement string) finding.Finding {
		f := write()
		f.Location.Line, f.Statement = line, statement
		return f
	}
	fs := []finding.Finding{at(9, "x"), at(3, "x"), at(5, "y"), at(7, "x")}
	finding.Number(fs)
	var got []int
	for _, f := range fs {
		got = append(got, f.Ordinal)
	}
	if want := []int{2, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("ordinals %v, want %v", got, want)
	}
}

func TestSortIsTotal(t *testing.T) {
	var fs []finding.Finding
	for _, file := range []string{"a.go", "b.go"} {
		for line := range 3 {
			for _, msg := range []string{"m", "n"} {
				f := write()
				f.Location = finding.Place{File: file, Line: line, Column: 1}
				f.Message = msg
				fs = append(fs, f)
				f.Code = "checkthenwrite"
				f.Related = []finding.Related{{Message: "related"}}
				fs = append(fs, f)
			}
		}
	}
	finding.Sort(fs)
	want := ids(fs)
	for range 20 {
		rand.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
		finding.Sort(fs)
		if !slices.Equal(ids(fs), want) {
			t.Fatal("the order depends on the order before")
		}
	}
	double := slices.Concat(fs, fs)
	for i := range fs {
		double[i].Related = nil
	}
	finding.Sort(double)
	if got := len(finding.Compact(double)); got != len(fs) {
		t.Errorf("Compact leaves %d of %d, want %d", got, 2*len(fs), len(fs))
	}
}

func ids(fs []finding.Finding) []string {
	var all []string
	for _, f := range fs {
		all = append(all, f.Location.File+f.ID()+f.Message)
	}
	return all
}
