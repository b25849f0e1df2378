package fencedb

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fencelint/fence/fencedb/protocol"
)

// Check is for coordinators, before their store is touched. It returns an error that matches
// [ErrRefused] unless the resource and the grant id make a [Token], TTL is from 1µs to 24h,
// LockDelay and Usable are from 0 to 24h, and Owner is at most [MaxOwner] bytes of UTF-8
// without a NUL, which some databases do not keep.
func (r AcquireRequest) Check() error {
	_, err := NewToken(r.Resource, 1, r.GrantID)
	switch {
	case err != nil:
	case len(r.Owner) > MaxOwner || !utf8.ValidString(r.Owner) || strings.ContainsRune(r.Owner, 0):
		err = fmt.Errorf("the owner %q has to be at most %d bytes of UTF-8 without a NUL", r.Owner, MaxOwner)
	default:
		err = errors.Join(within("TTL", r.TTL, time.Microsecond), within("lock-delay", r.LockDelay, 0), within("usable window", r.Usable, 0))
	}
	return refuse(r.Resource, err)
}

// Check is for coordinators, before their store is touched. It returns an error that matches
// [ErrRefused] unless the token is of a grant, TTL is from 1µs to 24h, and Usable from 0 to
// 24h.
func (r RenewRequest) Check() error {
	return errors.Join(CheckGranted(r.Token), refuse(r.Token.Resource(), errors.Join(within("TTL", r.TTL, time.Microsecond), within("usable window", r.Usable, 0))))
}

// CheckGranted is for coordinators. It returns an error that matches [ErrRefused] and
// [ErrInvalidToken] if t is of no grant: the zero Token, or one of [ExternalToken].
func CheckGranted(t Token) error {
	if t.Grant() == "" {
		return fmt.Errorf("%w: %w: %v is of no grant", ErrRefused, ErrInvalidToken, t)
	}
	return nil
}

func within(what string, d, least time.Duration) error {
	if d < least || d > protocol.MaxTTL {
		return fmt.Errorf("the %s is %v; it has to be from %v to %v", what, d, least, protocol.MaxTTL)
	}
	return nil
}

func refuse(resource string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %q: %w", ErrRefused, resource, err)
}
