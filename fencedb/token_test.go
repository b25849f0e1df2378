package fencedb_test

import (
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/quick"

	"github.com/fencelint/fence/fencedb"
)

var (
	_ encoding.TextMarshaler   = fencedb.Token{}
	_ encoding.TextAppender    = fencedb.Token{}
	_ encoding.TextUnmarshaler = (*fencedb.Token)(nil)
)

func newToken(t testing.TB, resource string, value int64, grant string) fencedb.Token {
	t.Helper()
	token, err := fencedb.NewToken(resource, value, grant)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func externalToken(t testing.TB, resource string, n int64) fencedb.Token {
	t.Helper()
	token, err := fencedb.ExternalToken(resource, n)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Each text is of one token, and the other way round.
func TestText(t *testing.T) {
	for _, test := range []struct {
		text  string
		token fencedb.Token
	}{
		{"", fencedb.Token{}},
		{"orders:daily/42/K7Q2M4", newToken(t, "orders:daily", 42, "K7Q2M4")},
		{"orders:daily/42/", externalToken(t, "orders:daily", 42)},
		{"a/1/x/2/y", newToken(t, "a/1/x", 2, "y")},
		{"a/1//2/y", newToken(t, "a/1/", 2, "y")},
		{"a/1/2/", externalToken(t, "a/1", 2)},
		{"///1/", externalToken(t, "//", 1)},
		{"Bestellungen: täglich/1/-_9aZ", newToken(t, "Bestellungen: täglich", 1, "-_9aZ")},
		{"r/9223372036854775807/g", newToken(t, "r", math.MaxInt64, "g")},
		{strings.Repeat("r", 255) + "/1/" + strings.Repeat("g", 64), newToken(t, strings.Repeat("r", 255), 1, strings.Repeat("g", 64))},
	} {
		text, err := test.token.MarshalText()
		if err != nil || string(text) != test.text {
			t.Errorf("text is %q (%v), want %q", text, err, test.text)
		}
		var back fencedb.Token
		if err := back.UnmarshalText([]byte(test.text)); err != nil || back != test.token {
			t.Errorf("%q gives %#v (%v), want %#v", test.text, back, err, test.token)
		}
	}
}

func TestParseTokenRefuses(t *testing.T) {
	for _, text := range []string{
		"",
		"orders",
		"orders/42",    // no grant, not even an empty one
		"42/g",         // no resource
		"/42/g",        // an empty one
		"orders//g",    // no value
		"orders/0/g",   // values start at 1
		"orders/-1/g",  // no sign
		"orders/+1/g",  // no sign
		"orders/042/g", // no leading zero
		"orders/1e3/g", //
		"orders/1_0/g", //
		"orders/٤٢/g",  // decimal digits, but not ASCII
		"orders/ 1/g",
		"orders/9223372036854775808/g",
		"orders/42/g g",
		"orders/42/g\n",
		"orders/42/é",
		" orders/42/g",
		"orders /42/g",
		"or\nders/42/g",
		"or\x00ders/42/g",
		"or\u200bders/42/g", // zero width space
		"or\xffders/42/g",   // not UTF-8
		strings.Repeat("r", 256) + "/42/g",
		"orders/42/" + strings.Repeat("g", 65),
	} {
		if token, err := fencedb.ParseToken(text); !errors.Is(err, fencedb.ErrInvalidToken) || !token.IsZero() {
			t.Errorf("ParseToken(%q) = %v, %v, want ErrInvalidToken", text, token, err)
		}
	}
}

func TestNewTokenRefuses(t *testing.T) {
	for _, test := range []struct {
		resource string
		value    int64
		grant    string
	}{
		{"", 1, "g"},
		{"r", 0, "g"},
		{"r", -1, "g"},
		{"r", math.MinInt64, "g"},
		{"r", 1, ""}, // only external tokens have none
		{"r", 1, "g/h"},
	} {
		if token, err := fencedb.NewToken(test.resource, test.value, test.grant); !errors.Is(err, fencedb.ErrInvalidToken) || !token.IsZero() {
			t.Errorf("NewToken(%q, %d, %q) = %v, %v, want ErrInvalidToken", test.resource, test.value, test.grant, token, err)
		}
	}
	for _, n := range []int64{0, -1} {
		if token, err := fencedb.ExternalToken("r", n); !errors.Is(err, fencedb.ErrInvalidToken) || !token.IsZero() {
			t.Errorf("ExternalToken(r, %d) = %v, %v, want ErrInvalidToken", n, token, err)
		}
	}
}

func TestUnmarshalTextKeepsTheTokenOnError(t *testing.T) {
	token := newToken(t, "r", 1, "g")
	before := token
	if err := token.UnmarshalText([]byte("nonsense")); err == nil || token != before {
		t.Errorf("token is %v after %v, want %v", token, err, before)
	}
}

func TestZeroToken(t *testing.T) {
	var zero fencedb.Token
	if !zero.IsZero() || newToken(t, "r", 1, "g").IsZero() {
		t.Error("IsZero is wrong")
	}
	if zero.Value() != 0 || zero.Resource() != "" || zero.Grant() != "" || zero.Incarnation() != 0 || zero.Counter() != 0 {
		t.Errorf("the zero token has parts: %#v", zero)
	}
	if got := zero.String(); got != "(no token)" {
		t.Errorf("String is %q", got)
	}
}

func TestMakeValue(t *testing.T) {
	for _, test := range []struct {
		incarnation int
		counter     int64
		want        int64 // 0: refused
	}{
		{0, 1, 1},
		{0, 42, 42},
		{0, fencedb.MaxCounter, 1<<48 - 1},
		{1, 1, 1<<48 + 1},
		{fencedb.MaxIncarnation, fencedb.MaxCounter, math.MaxInt64},
		{-1, 1, 0},
		{fencedb.MaxIncarnation + 1, 1, 0},
		{0, 0, 0},
		{1, 0, 0},
		{0, -1, 0},
		{0, fencedb.MaxCounter + 1, 0},
	} {
		got, err := fencedb.MakeValue(test.incarnation, test.counter)
		if got != test.want || (err == nil) != (test.want > 0) || err != nil && !errors.Is(err, fencedb.ErrInvalidToken) {
			t.Errorf("MakeValue(%d, %d) = %d, %v, want %d", test.incarnation, test.counter, got, err, test.want)
		}
	}
}

func TestCompare(t *testing.T) {
	first, second := newToken(t, "r", 1, "g"), newToken(t, "r", 2, "h")
	for _, test := range []struct {
		name string
		t, u fencedb.Token
		want int
		err  error
	}{
		{"earlier", first, second, -1, nil},
		{"later", second, first, 1, nil},
		{"same", first, first, 0, nil},
		{"granted twice", first, newToken(t, "r", 1, "other"), 0, nil},
		{"as numbers, not as text", newToken(t, "r", 9, "g"), newToken(t, "r", 10, "g"), -1, nil},
		{"incarnation first", newToken(t, "r", 1<<48+1, "g"), newToken(t, "r", 1<<48-1, "g"), 1, nil},
		{"external", externalToken(t, "r", 7), externalToken(t, "r", 8), -1, nil},
		{"other resource", first, newToken(t, "s", 1, "g"), 0, fencedb.ErrWrongResource},
		{"zero", fencedb.Token{}, first, 0, fencedb.ErrInvalidToken},
		{"with zero", first, fencedb.Token{}, 0, fencedb.ErrInvalidToken},
		{"both zero", fencedb.Token{}, fencedb.Token{}, 0, fencedb.ErrInvalidToken},
	} {
		got, err := test.t.Compare(test.u)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: got %d, %v, want %d, %v", test.name, got, err, test.want, test.err)
		}
	}
}

func TestJSON(t *testing.T) {
	type message struct {
		Token fencedb.Token            `json:"token"`
		None  fencedb.Token            `json:"none"`
		By    map[fencedb.Token]string `json:"by"`
	}
	token := newToken(t, "<a&b>/c", 42, "g")
	in := message{Token: token, By: map[fencedb.Token]string{token: "x"}}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"token":"\u003ca\u0026b\u003e/c/42/g","none":"","by":{"\u003ca\u0026b\u003e/c/42/g":"x"}}`
	if string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	var out message
	if err := json.Unmarshal(data, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("got %+v (%v), want %+v", out, err, in)
	}
	if err := json.Unmarshal([]byte(`{"token":42}`), &out); err == nil {
		t.Error("a number is no token")
	}
	if err := json.Unmarshal([]byte(`{"token":"nonsense"}`), &out); !errors.Is(err, fencedb.ErrInvalidToken) {
		t.Errorf("got %v, want ErrInvalidToken", err)
	}
}

// The number is a query argument, the token is not: its text in a column would
// order 9 after 10.
func TestSQL(t *testing.T) {
	token := newToken(t, "r", 42, "g")
	if v, err := driver.DefaultParameterConverter.ConvertValue(token.Value()); err != nil || v != int64(42) {
		t.Errorf("Value converts to %v, %v", v, err)
	}
	if v, err := driver.DefaultParameterConverter.ConvertValue(token); err == nil {
		t.Errorf("the token converts to %v", v)
	}
}

// anyToken generates tokens of all kinds.
type anyToken struct{ fencedb.Token }

const (
	resourceRunes = "abc/:-_ .é日€😀0123456789"
	grantBytes    = "ABCXYZabcxyz0123456789-_"
)

func (anyToken) Generate(r *rand.Rand, _ int) reflect.Value {
	resource := "x" + pick(r, []rune(resourceRunes), r.Intn(30)) + "x"
	value := r.Int63n(math.MaxInt64) + 1
	if r.Intn(2) == 0 {
		value = r.Int63n(100) + 1
	}
	if r.Intn(3) == 0 {
		token, err := fencedb.ExternalToken(resource, value)
		if err != nil {
			panic(err)
		}
		return reflect.ValueOf(anyToken{token})
	}
	token, err := fencedb.NewToken(resource, value, pick(r, []rune(grantBytes), 1+r.Intn(fencedb.MaxGrant)))
	if err != nil {
		panic(err)
	}
	return reflect.ValueOf(anyToken{token})
}

func pick(r *rand.Rand, from []rune, n int) string {
	out := make([]rune, n)
	for i := range out {
		out[i] = from[r.Intn(len(from))]
	}
	return string(out)
}

func check(t *testing.T, property any) {
	t.Helper()
	if err := quick.Check(property, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func TestPropertyTextRoundTrip(t *testing.T) {
	check(t, func(a anyToken) bool {
		back, err := fencedb.ParseToken(a.String())
		return err == nil && back == a.Token
	})
}

func TestPropertyTextIsUnique(t *testing.T) {
	check(t, func(a, b anyToken) bool {
		return (a.Token == b.Token) == (a.String() == b.String())
	})
}

func TestPropertyValueParts(t *testing.T) {
	check(t, func(incarnation uint16, counter uint64) bool {
		i, c := int(incarnation)&fencedb.MaxIncarnation, int64(counter%fencedb.MaxCounter)+1
		value, err := fencedb.MakeValue(i, c)
		if err != nil || value <= 0 {
			return false
		}
		token, err := fencedb.NewToken("r", value, "g")
		return err == nil && token.Value() == value && token.Incarnation() == i && token.Counter() == c
	})
}

// Compare is the order of the values, and a total one within a resource.
func TestPropertyCompare(t *testing.T) {
	check(t, func(a, b, c anyToken) bool {
		x, y, z := externalToken(t, "r", a.Value()), externalToken(t, "r", b.Value()), externalToken(t, "r", c.Value())
		xy, err1 := x.Compare(y)
		yx, err2 := y.Compare(x)
		yz, err3 := y.Compare(z)
		xz, err4 := x.Compare(z)
		if errors.Join(err1, err2, err3, err4) != nil {
			return false
		}
		less := x.Value() < y.Value()
		return xy == -yx && (xy < 0) == less && (xy > 0 || yz > 0 || xz <= 0)
	})
}

func FuzzParseToken(f *testing.F) {
	for _, text := range []string{
		"", "/", "//", "///", "orders:daily/42/K7Q2M4", "orders:daily/42/", "a/1/2/b", "r/9223372036854775807/g",
		"r/9223372036854775808/g", "r/01/g", "r/+1/g", "\xff/1/g", "r\n/1/g",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := fencedb.ParseToken(text)
		if err != nil {
			if !errors.Is(err, fencedb.ErrInvalidToken) || !token.IsZero() {
				t.Fatalf("got %v, %v", token, err)
			}
			return
		}
		if token.IsZero() || token.Value() <= 0 || token.Resource() == "" {
			t.Fatalf("%q gives %#v", text, token)
		}
		if token.String() != text {
			t.Fatalf("%q has the text %q", text, token)
		}
		again, err := fencedb.ExternalToken(token.Resource(), token.Value())
		if token.Grant() != "" {
			again, err = fencedb.NewToken(token.Resource(), token.Value(), token.Grant())
		}
		if err != nil || again != token {
			t.Fatalf("its parts give %v (%v), want %v", again, err, token)
		}
		data, err := json.Marshal(token)
		if err != nil {
			t.Fatal(err)
		}
		var back fencedb.Token
		if err := json.Unmarshal(data, &back); err != nil || back != token {
			t.Fatalf("JSON %s gives %v (%v)", data, back, err)
		}
	})
}
