package metrics

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of docs/observability.md")

var (
	nameRE       = regexp.MustCompile(`^fence(\.[a-z][a-z0-9_]*)+$`)
	prometheusRE = regexp.MustCompile(`^fence(_[a-z0-9]+)+$`)
	labelRE      = regexp.MustCompile(`^[a-z][a-z_]*$`)
	unitRE       = regexp.MustCompile(`^(s|1|\{[a-z]+\})?$`)
)

// TestCatalogue holds the rules for names of both sides: Prometheus' base units and _total,
// and OpenTelemetry's absence of it.
func TestCatalogue(t *testing.T) {
	all := All()
	for i, m := range all {
		wrong := func(format string, args ...any) { t.Errorf("%s: "+format, append([]any{m.Name}, args...)...) }
		if m.ID != ID(i) {
			wrong("has the ID %d at index %d", m.ID, i)
		}
		if !nameRE.MatchString(m.Name) || !prometheusRE.MatchString(m.Prometheus) {
			wrong("is no name, or %s is none", m.Prometheus)
		}
		if !unitRE.MatchString(m.Unit) {
			wrong("has the unit %q", m.Unit)
		}
		if slices.Contains(strings.Split(m.Name, "."), "total") {
			wrong("says total, which OpenTelemetry's names do not")
		}
		if (m.Kind == Counter) != strings.HasSuffix(m.Prometheus, "_total") {
			wrong("is a %s called %s", m.Kind, m.Prometheus)
		}
		if (m.Unit == "s") != strings.Contains(m.Prometheus, "_seconds") {
			wrong("has the unit %q and is called %s", m.Unit, m.Prometheus)
		}
		if (m.Kind == Histogram) != (len(m.Bounds) > 0) || !slices.IsSorted(m.Bounds) {
			wrong("is a %s with the bounds %v", m.Kind, m.Bounds)
		}
		if m.Help == "" || !strings.HasSuffix(m.Help, ".") || m.Receipt == "" {
			wrong("has the help %q and the receipt %q", m.Help, m.Receipt)
		}
		for _, other := range all {
			if strings.HasPrefix(other.Name, m.Name+".") {
				wrong("is a name and what %s is within", other.Name)
			}
			if other.ID != m.ID && (other.Name == m.Name || other.Prometheus == m.Prometheus) {
				wrong("is called like another one")
			}
		}
	}
}

// TestLabels wants labels bounded by what they are: nobody adds one that names a resource.
func TestLabels(t *testing.T) {
	open := []string{"namespace", "lease_class", "table", "incarnation"}
	for _, m := range All() {
		opened, closed := 0, 0
		for _, l := range m.Labels {
			if !labelRE.MatchString(l.Name) {
				t.Errorf("%s has the label %q", m.Name, l.Name)
			}
			if !l.Open() {
				closed++
				continue
			}
			opened++
			if !slices.Contains(open, l.Name) {
				t.Errorf("%s has the label %s, whose values nobody lists or bounds", m.Name, l.Name)
			}
		}
		if m.Kind == Counter && (opened > 1 || closed > 1) {
			t.Errorf("%s has %d open labels and %d others: startAtZero knows one of each", m.Name, opened, closed)
		}
	}
}

// TestAllIsACopy changes what it was given.
func TestAllIsACopy(t *testing.T) {
	a := All()
	a[LeaseAttempts].Labels[1].Values[0] = "changed"
	a[TakeoverDelay].Bounds[0] = -1
	b := All()
	if b[LeaseAttempts].Labels[1].Values[0] == "changed" || b[TakeoverDelay].Bounds[0] == -1 {
		t.Error("a change of what All returned changes the catalogue")
	}
}

// TestDocs wants the table in docs/observability.md to be the catalogue.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/observability.md", "<!-- metrics: go test ./fencedb/metrics -update -->\n", "<!-- end of metrics -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	is, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table between %q and %q", path, begin, end)
	}
	want := markdown()
	if is == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the catalogue says; run this test with -update. Want\n%s", path, want)
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func markdown() string {
	var b strings.Builder
	b.WriteString("\n| OpenTelemetry | unit | Prometheus | type | labels | what it says | from |\n|---|---|---|---|---|---|---|\n")
	for _, m := range All() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s | %s | %s |\n",
			m.Name, m.Unit, m.Prometheus, kindNames[m.Kind], strings.Join(labelNames(m.Labels), ", "), m.Help, m.Receipt)
	}
	b.WriteString("\n| label | of | values |\n|---|---|---|\n")
	for _, row := range labelRows() {
		b.WriteString(row)
	}
	b.WriteString("\n| histogram | upper bounds of the buckets |\n|---|---|\n")
	for _, m := range All() {
		if m.Kind == Histogram {
			fmt.Fprintf(&b, "| `%s` | %s |\n", m.Name, strings.Trim(fmt.Sprint(m.Bounds), "[]"))
		}
	}
	b.WriteString("\n")
	return b.String()
}

var kindNames = map[Kind]string{Counter: "counter", UpDown: "up-down counter, gauge", Gauge: "gauge", Histogram: "histogram"}

func labelNames(labels []Label) []string {
	var names []string
	for _, l := range labels {
		names = append(names, l.Name)
	}
	return names
}

// labelRows has a row for each different set of values of a label.
func labelRows() []string {
	type row struct{ name, values string }
	var rows []row
	of := map[row][]string{}
	for _, m := range All() {
		for _, l := range m.Labels {
			values := fmt.Sprintf("the program's, up to %d, then `%s`", MaxValues, Other)
			switch {
			case l.Name == "incarnation":
				values = "one for each namespace, the latest"
			case !l.Open():
				values = "`" + strings.Join(l.Values, "`, `") + "`"
			}
			r := row{l.Name, values}
			if of[r] == nil {
				rows = append(rows, r)
			}
			of[r] = append(of[r], "`"+m.Name+"`")
		}
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("| %s | %s | %s |\n", r.name, strings.Join(of[r], ", "), r.values))
	}
	return out
}
