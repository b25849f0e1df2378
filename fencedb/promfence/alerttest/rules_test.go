package alerttest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/otlptranslator"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/fencelint/fence/fencedb/metrics"
	"github.com/fencelint/fence/fencedb/promfence/alerts"
)

const (
	docsFile = "../../../docs/alerts.md"
	runbook  = "https://github.com/fencelint/fence/blob/main/docs/alerts.md#"
)

func parse(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.Parse([]byte(alerts.Rules()), false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// TestAnnotations wants each alert to say what is wrong, and where more is said.
func TestAnnotations(t *testing.T) {
	for _, r := range parse(t) {
		for _, key := range []string{"summary", "description"} {
			if r.Annotations[key] == "" {
				t.Errorf("%s has no %s", r.Alert, key)
			}
		}
		if want := runbook + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
			t.Errorf("%s has the runbook %q, want %q", r.Alert, r.Annotations["runbook_url"], want)
		}
		if s := r.Labels["severity"]; s != "page" && s != "warning" {
			t.Errorf("%s has the severity %q", r.Alert, s)
		}
	}
}

// TestDocs wants a section with the three questions for each alert, and none for others.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		sections[name] = body
	}
	for _, r := range parse(t) {
		body, ok := sections[r.Alert]
		if !ok {
			t.Errorf("docs/alerts.md has no section %s", r.Alert)
		}
		delete(sections, r.Alert)
		for _, question := range []string{"**What it means.**", "**What to check.**", "**What to do.**"} {
			if !strings.Contains(body, question) {
				t.Errorf("docs/alerts.md does not say of %s %s", r.Alert, question)
			}
		}
		if strings.Contains(body, "**Page.**") != (r.Labels["severity"] == "page") {
			t.Errorf("docs/alerts.md and the rules differ on whether %s pages", r.Alert)
		}
	}
	for name := range sections {
		t.Errorf("docs/alerts.md has a section %s, and there is no such alert", name)
	}
}

// catalogued returns the metric that a selector is of.
func catalogued(name string) (metrics.Metric, bool) {
	for _, m := range metrics.All() {
		if m.Prometheus == name {
			return m, true
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if m.Kind == metrics.Histogram && m.Prometheus+suffix == name {
				return m, true
			}
		}
	}
	return metrics.Metric{}, false
}

func selectors(t *testing.T, expr string) []*parser.VectorSelector {
	t.Helper()
	e, err := parser.ParseExpr(expr)
	if err != nil {
		t.Fatal(err)
	}
	var all []*parser.VectorSelector
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			all = append(all, s)
		}
		return nil
	})
	return all
}

var word = regexp.MustCompile(`[a-z_]+`)

// TestNames wants every metric, label and value that a rule names to be in the catalogue.
func TestNames(t *testing.T) {
	for _, r := range parse(t) {
		all := selectors(t, r.Expr)
		if len(all) == 0 {
			t.Errorf("%s is of no metric", r.Alert)
		}
		for _, s := range all {
			m, ok := catalogued(s.Name)
			if !ok {
				t.Errorf("%s is of %s, which is in no catalogue", r.Alert, s.Name)
				continue
			}
			for _, matcher := range s.LabelMatchers {
				if matcher.Name == model.MetricNameLabel {
					continue
				}
				i := slices.IndexFunc(m.Labels, func(l metrics.Label) bool { return l.Name == matcher.Name })
				if i < 0 {
					t.Errorf("%s asks for the label %s, which %s has not", r.Alert, matcher.Name, m.Prometheus)
					continue
				}
				for _, v := range word.FindAllString(matcher.Value, -1) {
					if !slices.Contains(m.Labels[i].Values, v) {
						t.Errorf("%s asks for %s %q, which is none of %v", r.Alert, matcher.Name, v, m.Labels[i].Values)
					}
				}
			}
		}
	}
}

// otherNames are the names that Prometheus makes of OpenTelemetry's where they are not ours.
var otherNames = map[metrics.ID]string{
	metrics.GuardStaleness:   "fence_guard_staleness",
	metrics.StoreIncarnation: "fence_store_incarnation",
	metrics.SuspendTime:      "fence_clock_suspend_time_seconds_total",
}

// TestTranslation asks Prometheus what it calls a metric that comes through OpenTelemetry.
// The rules fit it: no rule is of one that has another name.
func TestTranslation(t *testing.T) {
	types := map[metrics.Kind]otlptranslator.MetricType{
		metrics.Counter: otlptranslator.MetricTypeMonotonicCounter, metrics.UpDown: otlptranslator.MetricTypeNonMonotonicCounter,
		metrics.Gauge: otlptranslator.MetricTypeGauge, metrics.Histogram: otlptranslator.MetricTypeHistogram,
	}
	namer := otlptranslator.NewMetricNamer("", otlptranslator.UnderscoreEscapingWithSuffixes)
	for _, m := range metrics.All() {
		want := m.Prometheus
		if other, ok := otherNames[m.ID]; ok {
			want = other
		}
		got, err := namer.Build(otlptranslator.Metric{Name: m.Name, Unit: m.Unit, Type: types[m.Kind]})
		if err != nil || got != want {
			t.Errorf("%s is %s to Prometheus (%v), want %s", m.Name, got, err, want)
		}
		for _, l := range m.Labels {
			if got, err := (&otlptranslator.LabelNamer{}).Build(l.Name); err != nil || got != l.Name {
				t.Errorf("the label %s is %s to Prometheus (%v)", l.Name, got, err)
			}
		}
	}
	for _, r := range parse(t) {
		for _, s := range selectors(t, r.Expr) {
			if m, _ := catalogued(s.Name); otherNames[m.ID] != "" {
				t.Errorf("%s is of %s, which OpenTelemetry calls otherwise", r.Alert, s.Name)
			}
		}
	}
}
