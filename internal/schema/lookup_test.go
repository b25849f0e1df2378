package schema

import (
	"slices"
	"testing"
)

func TestTable(t *testing.T) {
	s := &Schema{Tables: []*Table{
		{Name: "jobs"}, {Schema: "app", Name: "orders"}, {Schema: "a", Name: "two"}, {Schema: "b", Name: "two"},
		{Schema: "app", Name: "Users"}, {Schema: "app", Name: "users"}, {Name: "mixed"}, {Schema: "app", Name: "mixed"},
	}}
	for _, test := range []struct{ schema, name, want string }{
		{"", "jobs", "jobs"}, {"", "JOBS", "jobs"}, {"public", "jobs", "jobs"},
		{"", "orders", "app.orders"}, {"APP", "Orders", "app.orders"}, {"other", "orders", ""},
		{"", "two", ""}, {"a", "two", "a.two"}, {"c", "two", ""},
		{"", "Users", "app.Users"}, {"app", "users", "app.users"}, {"app", "USERS", ""},
		{"", "mixed", ""}, {"app", "mixed", "app.mixed"}, {"x", "mixed", "mixed"}, {"", "none", ""},
	} {
		got := ""
		if table := s.Table(test.schema, test.name); table != nil {
			got = name{table.Schema, table.Name}.String()
		}
		if got != test.want {
			t.Errorf("Table(%q, %q) = %q, want %q", test.schema, test.name, got, test.want)
		}
	}
}

func TestColumn(t *testing.T) {
	table := &Table{Columns: []*Column{{Name: "Fence"}, {Name: "fence"}, {Name: "id"}}}
	for given, want := range map[string]string{"fence": "fence", "Fence": "Fence", "FENCE": "Fence", "ID": "id", "x": ""} {
		got := ""
		if c := table.Column(given); c != nil {
			got = c.Name
		}
		if got != want {
			t.Errorf("Column(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestSortNaturally(t *testing.T) {
	names := []string{"b.sql", "10_a.sql", "9_b.sql", "009_a.sql", "V10__x.sql", "V9__x.sql", "20250101000000_a.sql", "9_a.sql", "99999999999999999999999_a.sql"}
	sortNaturally(names)
	want := []string{"009_a.sql", "9_a.sql", "9_b.sql", "10_a.sql", "20250101000000_a.sql", "99999999999999999999999_a.sql", "V9__x.sql", "V10__x.sql", "b.sql"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
}
