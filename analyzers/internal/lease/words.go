package lease

import (
	"strings"
	"unicode"
)

// Words splits an identifier, a column name or a key into lower-case words:
// "LeaseExpiresAt", "lease_expires_at" and "hooks:compensate:lock" all have a
// word of ownership, "release", "please", "clock" and "block" have none.
func Words(s string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, strings.ToLower(string(cur)))
			cur = cur[:0]
		}
	}
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r):
			flush()
			continue
		case unicode.IsUpper(r):
			prevLower := i > 0 && unicode.IsLower(rs[i-1])
			nextLower := i+1 < len(rs) && unicode.IsLower(rs[i+1])
			prevUpper := i > 0 && unicode.IsUpper(rs[i-1])
			if prevLower || (prevUpper && nextLower) {
				flush()
			}
		}
		cur = append(cur, r)
	}
	flush()
	for i := 1; i < len(out); i++ { // "LastBeat", "heart_beat"
		if out[i] == "beat" && (out[i-1] == "last" || out[i-1] == "heart") {
			out[i] = "heartbeat"
		}
	}
	return out
}

// A Set is a list of words as a table.
type Set map[string]bool

func set(words string) Set {
	s := Set{}
	for _, w := range strings.Fields(words) {
		s[w] = true
	}
	return s
}

// Has tells whether one of the words of one of the names is in the set.
func (s Set) Has(names ...string) bool {
	for _, n := range names {
		for _, w := range Words(n) {
			if s[w] {
				return true
			}
		}
	}
	return false
}

// The word lists come from 22 real repositories (research, names.md).
var (
	// Ownership words name a lock, lease, claim, leader or heartbeat.
	Ownership = set(`lock locks locker locked lockfile lease leases leased leaser lessor
		leader leaders leadership leaderelection election elected elector elections
		claim claimed claimer claimant heartbeat heartbeats heartbeated mutex semaphore`)
	// Carrier words are those that make all times of a table or struct an ownership's
	// times. Claims are also what insurers handle and what a JWT holds.
	Carrier = set(`lock locks locker locked lockfile lease leases leased leaser lessor
		leader leadership leaderelection election elected elector elections heartbeat heartbeats mutex semaphore`)
	// Owner words name the holder of something.
	Owner = set(`owner owners ownership holder lessee leader lead lockholder claimant primary`)
	// Process words, together with "id", name a process that works on something. A
	// host's or a node's id is as often the subject of a row as its owner.
	process = set(`worker runner agent process executor consumer claimer locker`)
	// Process words name a process or a machine. A column of such a name is the row's
	// owner only if this process stores its own identity there.
	Process = set(`node server instance host hostname worker proc process pid pod replica runner
		agent machine broker executor consumer who owner holder`)
	// Token words name a number that is larger at every grant.
	Token = set(`fence fencing epoch term generation gen attempt incarnation rangeid`)
	// Expiry words name an instant.
	Expiry = set(`expires expire expiry expired expiration exp ttl until deadline timeout
		heartbeat checkin ping pinged renew renewed renewal refreshed seen acquired granted elected beat`)
	// Foreign words name things whose expiry is agreed with somebody else or
	// decides nothing about the ownership of work.
	Foreign = set(`user users account accounts session sessions login cookie cookies cert certs
		certificate certificates cred creds credential credentials password passwords invite invitation invitations
		jwt oauth otp captcha subscription dhcp cache cached caches api apikey ticket license
		rate ratelimit limit quota metric metrics trial coupon coupons order orders payment payments invoice invoices tickets licenses trials subscriptions quotas
		refresh access bearer csrf nonce secret verification tls acme dns`)
	// Audit words name rows that only record what happened.
	Audit = set(`audit log logs event events history outbox journal trace metric metrics stat stats activity`)
	// Unique words name what has no order and is made once.
	Unique = set(`uuid guid ulid`)
	// State words name a column that says how far something is.
	State = set(`state status phase stage`)
)

// IsHolderName tells whether a field or column named so holds the identity of
// the process that owns the row: owner, holder, locked_by, leased_by, worker_id.
// A user's or an account's id is not an owner.
func IsHolderName(name string) bool {
	ws := Words(name)
	if len(ws) == 0 || Foreign.Has(name) {
		return false
	}
	last := ws[len(ws)-1]
	for i, w := range ws {
		if Owner[w] && w != "primary" && w != "lead" && last != "at" && last != "until" && last != "ttl" {
			return true
		}
		if w == "assignee" || w == "to" && i > 0 && ws[i-1] == "assigned" {
			return true
		}
		if w == "by" && i > 0 && set("locked leased claimed held owned attempted acquired taken reserved picked")[ws[i-1]] {
			return true
		}
	}
	return len(ws) >= 2 && process[ws[len(ws)-2]] && last == "id"
}

// IsLockKey tells whether a key or path names a lock, lease or claim by one of
// its words.
func IsLockKey(key string) bool {
	return Ownership.Has(key) || keyWords.Has(key)
}

// keyWords mean ownership in a key, where nobody keeps the claims of a JWT.
var keyWords = set("claims owner owners mutexes coordinator master primary")

// IsWorkerName tells whether a field or column named so holds the name of a
// process that works on the row, where it is compared with this process's own.
func IsWorkerName(name string) bool {
	ws := Words(name)
	return len(ws) == 1 && process[ws[0]]
}

// IsTokenName tells whether a field or column named so is a token: an epoch, a
// term, a generation, an attempt, a fence, a lease's version.
func IsTokenName(name string) bool {
	if Token.Has(name) {
		ws := Words(name)
		for _, w := range ws {
			if w == "max" || w == "observed" || w == "at" || w == "random" {
				return false
			}
		}
		return true
	}
	ws := Words(name)
	for i := 1; i < len(ws); i++ {
		pair := ws[i-1] + " " + ws[i]
		if tokenPairs[pair] {
			return true
		}
	}
	return false
}

var tokenPairs = map[string]bool{
	"range id": true, "lease token": true, "lock token": true, "claim token": true,
	"lease version": true, "lock version": true, "lease seq": true, "lease number": true,
	"owner version": true, "leader version": true, "lease counter": true, "lease id": true,
}
