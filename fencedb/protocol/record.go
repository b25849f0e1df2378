package protocol

import "time"

// A StoreTime is a point in time of a coordinator's clock, in microseconds since a point
// that the coordinator chose, usually 1970. Zero is no time.
type StoreTime int64

// Add returns the time d later, in whole microseconds.
func (t StoreTime) Add(d time.Duration) StoreTime { return t + StoreTime(d.Microseconds()) }

// Sub returns the time from u to t.
func (t StoreTime) Sub(u StoreTime) time.Duration { return time.Duration(t-u) * time.Microsecond }

// StoreTimeOf returns t for coordinators that count from 1970.
func StoreTimeOf(t time.Time) StoreTime { return StoreTime(t.UnixMicro()) }

// Time returns the time for coordinators that count from 1970, in UTC; the zero time for 0.
func (t StoreTime) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t)).UTC()
}

// An End says how a grant has ended.
type End string

// The ends. A grant that has none is held, or its time has run out and nobody has asked
// for the resource since.
const (
	Released   End = "released"   // by its holder, after the work
	Broken     End = "broken"     // by an operator
	Expired    End = "expired"    // its time ran out and another was granted
	Superseded End = "superseded" // another was granted
)

// A Record is what a coordinator knows of a resource: its last grant. The zero Record is
// of a resource that was never granted. Every change is made in the store's own atomic
// step, and after the record was locked; Now is read after the lock, since what was read
// before may be older than what the lock waited for.
type Record struct {
	Value     int64         // of the last token; after a break, the one that the break drew
	GrantID   string        // of the last grant
	Owner     string        // who holds it, or held it
	End       End           // empty, Released or Broken
	Granted   StoreTime     //
	Renewed   StoreTime     // of the last renewal, or Granted
	Expires   StoreTime     // when it ends unless renewed, or ended
	FreeAt    StoreTime     // when another may be granted
	LockDelay time.Duration // between an end that was no release and the next grant
	TTL       time.Duration // as granted
	Renewals  int64         // how often it was renewed
}

// Held tells whether the record's grant has its owner at now.
func (r Record) Held(now StoreTime) bool { return r.Value != 0 && r.End == "" && now < r.Expires }

// An Answer is what a coordinator says to a request.
type Answer int

// The answers.
const (
	Yes           Answer = iota + 1
	Repeated             // yes, and it was so already: the request has been made before
	No                   // somebody else holds it, or may still act on it
	NoExpired            // the grant's time has run out
	NoReleased           // its holder released it
	NoBroken             // an operator ended it
	NoSuperseded         // it is not the resource's last grant
	NoQuarantined        // nothing is granted for a while, after a restore
)

// A Request is a wish for a grant.
type Request struct {
	GrantID   string // chosen by who asks, random, the same when it asks again
	Owner     string
	TTL       time.Duration
	LockDelay time.Duration
}

// Acquire answers a request at now. On Yes, the grant is what Grant makes; on Repeated it
// is the record as it is. On No, another may be granted at FreeAt, or later if it is renewed.
func (r Record) Acquire(now StoreTime, q Request) Answer {
	switch {
	case r.Value != 0 && r.GrantID == q.GrantID:
		return r.standing(now, Repeated)
	case r.Value == 0 || now >= r.FreeAt:
		return Yes
	}
	return No
}

// Grant returns the record of a grant with the given value, and how the one before ended.
func (r Record) Grant(now StoreTime, q Request, value int64) (next Record, before End) {
	if r.Value != 0 {
		if before = r.End; before == "" {
			before = Expired
		}
	}
	expires := now.Add(q.TTL)
	return Record{Value: value, GrantID: q.GrantID, Owner: q.Owner, Granted: now, Renewed: now,
		Expires: expires, FreeAt: expires.Add(q.LockDelay), LockDelay: q.LockDelay, TTL: q.TTL}, before
}

// Renew renews the grant at now. A grant whose time has run out is not renewed even if
// nobody took its place: its holder's own deadline has passed, so its work has stopped.
func (r Record) Renew(now StoreTime, grantID string, value int64, ttl time.Duration) (Record, Answer) {
	if r.GrantID != grantID || r.Value != value {
		return r, r.notMine(grantID)
	}
	if a := r.standing(now, Yes); a != Yes {
		return r, a
	}
	// Never shorter: an answer to an earlier renewal may still count on what it was told.
	r.Renewed, r.TTL, r.Renewals = now, ttl, r.Renewals+1
	r.Expires = max(r.Expires, now.Add(ttl))
	r.FreeAt = r.Expires.Add(r.LockDelay)
	return r, Yes
}

// Release ends the grant at now, and frees the resource at once.
func (r Record) Release(now StoreTime, grantID string, value int64) (Record, Answer) {
	switch {
	case r.GrantID == grantID && r.End == Released:
		return r, Repeated
	case r.GrantID != grantID || r.Value != value:
		return r, r.notMine(grantID)
	case r.End == Broken:
		return r, NoBroken
	}
	// Also after it expired: the work is over, so the lock-delay has nothing to wait for.
	r.End, r.Expires, r.FreeAt = Released, min(r.Expires, now), now
	return r, Yes
}

// Break ends the grant for an operator, with a value of its own, above the grant's, so that
// what compares tokens can be raised to it. Its holder cannot be told, so the next grant
// waits until the holder's time has run out and for the lock-delay, unless noDelay.
func (r Record) Break(now StoreTime, value int64, noDelay bool) (Record, Answer) {
	switch {
	case r.Value == 0:
		return r, NoReleased
	case r.End == Released:
		return r, NoReleased
	case r.End == Broken && !noDelay:
		return r, Repeated
	}
	free := r.FreeAt
	if noDelay {
		free = now
	}
	r.Value, r.End, r.FreeAt = value, Broken, free
	r.Expires = min(r.Expires, now)
	return r, Yes
}

// standing says how a request of the record's own grant is answered: by yes while it is held.
func (r Record) standing(now StoreTime, yes Answer) Answer {
	switch {
	case r.End == Released:
		return NoReleased
	case r.End == Broken:
		return NoBroken
	case now >= r.Expires:
		return NoExpired
	}
	return yes
}

// notMine says why a grant is not the record's: an operator's break moves the value on.
func (r Record) notMine(grantID string) Answer {
	if r.GrantID == grantID && r.End == Broken {
		return NoBroken
	}
	return NoSuperseded
}
