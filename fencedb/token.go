package fencedb

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fencelint/fence/fencedb/protocol"
)

// The ranges of a token's parts. A value is an incarnation above a counter and
// fits a signed 64-bit column of any database.
const (
	// MaxIncarnation is the largest incarnation: 15 bits.
	MaxIncarnation = protocol.MaxIncarnation
	// MaxCounter is the largest counter: 48 bits. At a million grants a second it
	// lasts almost nine years.
	MaxCounter = protocol.MaxCounter
	// MaxResource is the length of the longest resource name, in bytes.
	MaxResource = 255
	// MaxOwner is the length of the longest name of a holder, in bytes.
	MaxOwner = 255
	// MaxGrant is the length of the longest grant id, in bytes.
	MaxGrant = 64
)

const counterBits = 48

// A Token proves one grant of one resource. It has an orderable value, which is
// larger for every later grant, the resource it is for, and the grant's random
// id. The value orders, the id identifies.
//
// Tokens are values: they may be copied, used as map keys and used by any number
// of goroutines. Two are the same grant's if and only if they are equal (==).
// Order them with [Token.Compare], never by their text. The zero Token is no
// token; every write refuses it.
//
// A token is not a secret. It says who wrote, it does not entitle anybody.
//
// # SQL
//
// In a database a token is its number alone: pass [Token.Value], and give the
// column a type of 64 bits (BIGINT; INTEGER in SQLite). A Token itself is not a
// query argument: database/sql refuses it, so that its text never lands in a
// column by mistake. There is no way back from a number to a Token.
//
// # Text and JSON
//
// [Token.MarshalText] gives "orders:daily/42/K7Q2M4", which JSON holds as a
// string:
//
//	token    = resource "/" value "/" grant
//	resource = 1 to 255 bytes of UTF-8, printable in the sense of unicode.IsPrint,
//	           neither starting nor ending with a blank
//	value    = decimal, 1 to 9223372036854775807, no sign, no leading zero
//	grant    = 0 to 64 of A-Z a-z 0-9 - _
//
// A resource may contain slashes. The grant is what follows the last one and the
// value what stands between the last two, since neither may contain one; so each
// text is of one token and each token has one text. The grant is empty in tokens
// made by [ExternalToken], whose text ends in a slash. The zero Token is the
// empty text.
type Token struct {
	value    int64
	resource string
	grant    string
}

// NewToken is for coordinators: it makes the token of a grant. Value is from 1
// to 9223372036854775807, usually made by [MakeValue]; grant is the grant's
// random id, from 1 to 64 of A-Z a-z 0-9 - _ (crypto/rand.Text gives one). The
// grammar of resource is at [Token]. Anything else is an error that matches
// [ErrInvalidToken].
//
// The coordinator promises that within a namespace no value is given twice and
// that a later grant has a larger one.
func NewToken(resource string, value int64, grant string) (Token, error) {
	if grant == "" {
		return Token{}, fmt.Errorf("%w: no grant id", ErrInvalidToken)
	}
	return newToken(resource, value, grant)
}

// ExternalToken makes a token for a lease that fence did not grant. N is the
// number by which that lease's own store orders its grants, from 1 to
// 9223372036854775807: the revision of an etcd lock's key, a range id, a Consul
// key's LockIndex. Anything else, and a resource outside the grammar at [Token],
// is an error that matches [ErrInvalidToken].
//
// Nobody but the caller can know that n is larger for every later grant of the
// resource; a random or hashed number, or a time, is not. Such a token has no
// grant id, and its incarnation and counter mean nothing.
func ExternalToken(resource string, n int64) (Token, error) {
	return newToken(resource, n, "")
}

func newToken(resource string, value int64, grant string) (Token, error) {
	if err := checkResource(resource); err != nil {
		return Token{}, err
	}
	if value <= 0 {
		return Token{}, fmt.Errorf("%w: value %d is not positive", ErrInvalidToken, value)
	}
	if err := checkGrant(grant); err != nil {
		return Token{}, err
	}
	return Token{value, resource, grant}, nil
}

// MakeValue puts an incarnation, from 0 to [MaxIncarnation], above a counter,
// from 1 to [MaxCounter]. A value with a larger incarnation is larger whatever
// the counters are: a coordinator that lost its counter, or was restored from an
// old snapshot, starts a new incarnation. Numbers outside these ranges are an
// error that matches [ErrInvalidToken].
func MakeValue(incarnation int, counter int64) (int64, error) {
	if incarnation < 0 || incarnation > MaxIncarnation {
		return 0, fmt.Errorf("%w: incarnation %d is not from 0 to %d", ErrInvalidToken, incarnation, MaxIncarnation)
	}
	if counter < 1 || counter > MaxCounter {
		return 0, fmt.Errorf("%w: counter %d is not from 1 to %d", ErrInvalidToken, counter, int64(MaxCounter))
	}
	return int64(incarnation)<<counterBits | counter, nil
}

// ParseToken reads the text of a token that travelled, as [Token.String] and
// [Token.MarshalText] write it. The grammar is at [Token]; other text, also the
// empty one, is an error that matches [ErrInvalidToken]. That a text parses does
// not mean that anybody was granted such a token.
func ParseToken(text string) (Token, error) {
	rest, grant, ok := cutLast(text)
	if !ok {
		return Token{}, fmt.Errorf("%w: want resource/value/grant", ErrInvalidToken)
	}
	resource, digits, ok := cutLast(rest)
	if !ok {
		return Token{}, fmt.Errorf("%w: want resource/value/grant", ErrInvalidToken)
	}
	value, err := parseValue(digits)
	if err != nil {
		return Token{}, err
	}
	return newToken(resource, value, grant)
}

// cutLast cuts text at its last slash.
func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, '/')
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

func parseValue(digits string) (int64, error) {
	// ParseInt also takes "+1" and "01", which would give a token two texts.
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || value <= 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, fmt.Errorf("%w: the value is not a decimal from 1 to 9223372036854775807", ErrInvalidToken)
	}
	return value, nil
}

func checkResource(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: no resource", ErrInvalidToken)
	case len(s) > MaxResource:
		return fmt.Errorf("%w: the resource has %d bytes, more than %d", ErrInvalidToken, len(s), MaxResource)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: the resource is not UTF-8", ErrInvalidToken)
	case s[0] == ' ' || s[len(s)-1] == ' ':
		return fmt.Errorf("%w: resource %q starts or ends with a blank", ErrInvalidToken, s)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%w: resource %q has %U, which does not print", ErrInvalidToken, s, r)
		}
	}
	return nil
}

func checkGrant(s string) error {
	if len(s) > MaxGrant {
		return fmt.Errorf("%w: the grant id has %d bytes, more than %d", ErrInvalidToken, len(s), MaxGrant)
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return fmt.Errorf("%w: grant id %q has %q; it takes letters, digits, - and _", ErrInvalidToken, s, c)
		}
	}
	return nil
}

// Value returns the number that orders the token: from 1 to
// 9223372036854775807, or 0 for the zero Token. It is what a fence column holds.
func (t Token) Value() int64 { return t.value }

// Resource returns the name of what was granted, empty for the zero Token.
func (t Token) Resource() string { return t.resource }

// Grant returns the grant's random id, empty for the zero Token and for tokens
// made by [ExternalToken].
func (t Token) Grant() string { return t.grant }

// Incarnation returns the upper 15 bits of the value, from 0 to
// [MaxIncarnation]: how often the coordinator's counter was started anew.
func (t Token) Incarnation() int { return int(t.value >> counterBits) }

// Counter returns the lower 48 bits of the value, from 0 to [MaxCounter]. Two
// counters are comparable only within one incarnation; Value always is.
func (t Token) Counter() int64 { return t.value & MaxCounter }

// IsZero tells whether t is the zero Token, which is no token.
func (t Token) IsZero() bool { return t == Token{} }

// Compare returns -1 if t is of an earlier grant than u, 1 if it is of a later
// one, and 0 if their values are equal. Values that are equal and grants that
// are not mean that one number was granted twice: t == u tells.
//
// Tokens of two resources have no order: the error matches [ErrWrongResource].
// If one is the zero Token the error matches [ErrInvalidToken].
func (t Token) Compare(u Token) (int, error) {
	if t.IsZero() || u.IsZero() {
		return 0, fmt.Errorf("%w: nothing to compare with the zero token", ErrInvalidToken)
	}
	if t.resource != u.resource {
		return 0, fmt.Errorf("%w: a token of %q has no order with one of %q", ErrWrongResource, t.resource, u.resource)
	}
	return cmp.Compare(t.value, u.value), nil
}

// String returns the token's text, or "(no token)" for the zero Token.
func (t Token) String() string {
	if t.IsZero() {
		return "(no token)"
	}
	b, _ := t.AppendText(nil)
	return string(b)
}

// AppendText appends the token's text to b, nothing for the zero Token. It
// implements [encoding.TextAppender]; the error is always nil.
func (t Token) AppendText(b []byte) ([]byte, error) {
	if t.IsZero() {
		return b, nil
	}
	b = append(b, t.resource...)
	b = append(b, '/')
	b = strconv.AppendInt(b, t.value, 10)
	b = append(b, '/')
	return append(b, t.grant...), nil
}

// MarshalText returns the token's text, empty for the zero Token. It implements
// [encoding.TextMarshaler], and so makes a token a string in JSON; the error is
// always nil.
func (t Token) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalText reads what MarshalText wrote; empty text gives the zero Token.
// Errors are those of [ParseToken] and leave t as it was. It implements
// [encoding.TextUnmarshaler]. It must not run while another goroutine uses t.
func (t *Token) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = Token{}
		return nil
	}
	u, err := ParseToken(string(text))
	if err != nil {
		return err
	}
	*t = u
	return nil
}
