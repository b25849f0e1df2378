package protocol

import (
	"math/rand/v2"
	"testing"
	"time"
)

const second = StoreTime(1_000_000)

func TestRecordAnswers(t *testing.T) {
	q := Request{GrantID: "a", Owner: "ada", TTL: 10 * time.Second, LockDelay: 5 * time.Second}
	other := Request{GrantID: "b", Owner: "bo", TTL: 10 * time.Second}
	granted, _ := Record{}.Grant(100*second, q, 7)
	released, _ := granted.Release(105*second, "a", 7)
	broken, _ := granted.Break(105*second, 8, false)
	at, _ := granted.Break(105*second, 8, true)
	renewed, _ := granted.Renew(105*second, "a", 7, 10*time.Second)
	for name, test := range map[string]struct{ got, want Answer }{
		"never granted":                 {Record{}.Acquire(1, q), Yes},
		"again while held":              {granted.Acquire(109*second, q), Repeated},
		"again after it expired":        {granted.Acquire(110*second, q), NoExpired},
		"again after it was released":   {released.Acquire(106*second, q), NoReleased},
		"again after it was broken":     {broken.Acquire(106*second, q), NoBroken},
		"another while held":            {granted.Acquire(109*second, other), No},
		"another in the lock-delay":     {granted.Acquire(115*second-1, other), No},
		"another after the lock-delay":  {granted.Acquire(115*second, other), Yes},
		"another after a release":       {released.Acquire(105*second, other), Yes},
		"another after a break":         {broken.Acquire(115*second-1, other), No},
		"another after the broken one":  {broken.Acquire(115*second, other), Yes},
		"another after a break at once": {at.Acquire(105*second, other), Yes},
		"another while renewed":         {renewed.Acquire(119*second, other), No},
		"renew":                         {answer(granted.Renew(109*second, "a", 7, time.Second)), Yes},
		"renew after it expired":        {answer(granted.Renew(110*second, "a", 7, time.Second)), NoExpired},
		"renew after it was released":   {answer(released.Renew(106*second, "a", 7, time.Second)), NoReleased},
		"renew after it was broken":     {answer(broken.Renew(106*second, "a", 7, time.Second)), NoBroken},
		"renew another's":               {answer(granted.Renew(101*second, "b", 6, time.Second)), NoSuperseded},
		"renew with another's value":    {answer(granted.Renew(101*second, "a", 6, time.Second)), NoSuperseded},
		"renew what was never granted":  {answer(Record{}.Renew(101*second, "a", 7, time.Second)), NoSuperseded},
		"release":                       {answer(granted.Release(109*second, "a", 7)), Yes},
		"release after it expired":      {answer(granted.Release(111*second, "a", 7)), Yes},
		"release again":                 {answer(released.Release(109*second, "a", 7)), Repeated},
		"release another's":             {answer(granted.Release(109*second, "b", 6)), NoSuperseded},
		"release what was broken":       {answer(broken.Release(109*second, "a", 7)), NoBroken},
		"break again":                   {answer(broken.Break(106*second, 9, false)), Repeated},
		"break again, without a delay":  {answer(broken.Break(106*second, 9, true)), Yes},
		"break what was released":       {answer(released.Break(106*second, 9, false)), NoReleased},
		"break what was never granted":  {answer(Record{}.Break(106*second, 9, false)), NoReleased},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %d, want %d", name, test.got, test.want)
		}
	}
	if held := released.Held(105 * second); held || broken.Held(106*second) || !granted.Held(109*second) || granted.Held(110*second) {
		t.Error("Held")
	}
	if shorter, _ := granted.Renew(101*second, "a", 7, time.Second); shorter.Expires != 110*second {
		t.Error("a renewal made the grant shorter")
	}
	for name, test := range map[string]struct {
		r    Record
		want End
	}{"first": {Record{}, ""}, "expired": {granted, Expired}, "released": {released, Released}, "broken": {broken, Broken}} {
		if _, before := test.r.Grant(200*second, other, 9); before != test.want {
			t.Errorf("%s: the predecessor is %q, want %q", name, before, test.want)
		}
	}
}

func answer(_ Record, a Answer) Answer { return a }

// Whatever is asked, and when: a grant is made only when the one before cannot be renewed
// any more, and what is not the grant's own holder never changes it.
func TestRecordNeverOverlaps(t *testing.T) {
	for seed := range uint64(5000) {
		random := rand.New(rand.NewPCG(seed, 5))
		var r Record
		now, value := StoreTime(1), int64(0)
		until := StoreTime(0) // when the last grant may still be counted on
		granted := 0
		for range 60 {
			now += StoreTime(random.Int64N(int64(5 * second)))
			before := r
			id := string(rune('a' + random.IntN(3)))
			switch random.IntN(5) {
			case 0, 1:
				q := Request{GrantID: id + string(rune('0'+granted%10)), TTL: time.Duration(1+random.IntN(9)) * time.Second, LockDelay: time.Duration(random.IntN(3)) * time.Second}
				switch r.Acquire(now, q) {
				case Yes:
					if now < until {
						t.Fatalf("seed %d: granted %v before the last grant was over", seed, until.Sub(now))
					}
					value++
					r, _ = r.Grant(now, q, value)
					until = r.Expires
					granted++
				case Repeated:
					if r.GrantID != q.GrantID {
						t.Fatalf("seed %d: the grant of %s was repeated to %s", seed, r.GrantID, q.GrantID)
					}
				}
			case 2:
				next, a := r.Renew(now, r.GrantID, value-int64(random.IntN(2)), time.Duration(random.IntN(9))*time.Second)
				if a == Yes && now >= until || a != Yes && next != r {
					t.Fatalf("seed %d: renew %d", seed, a)
				}
				if r = next; a == Yes {
					until = r.Expires
				}
			case 3:
				next, a := r.Release(now, id+"x", value)
				if a == Yes || next != before {
					t.Fatalf("seed %d: somebody else released it", seed)
				}
				if random.IntN(3) == 0 && r.Value != 0 {
					r, _ = r.Release(now, r.GrantID, r.Value)
					until = 0
				}
			case 4:
				if random.IntN(3) == 0 {
					var a Answer
					noDelay := random.IntN(2) == 0
					if r, a = r.Break(now, value+1, noDelay); a == Yes {
						value++
						if noDelay {
							until = 0
						}
					}
				}
			}
		}
	}
}

func TestAllocator(t *testing.T) {
	for name, test := range map[string]struct {
		a     Allocator
		place string
		floor int64
		want  Allocator
	}{
		"first":                  {Allocator{}, "", 0, Allocator{Counter: 1}},
		"at a place":             {Allocator{}, "x", 0, Allocator{Counter: 1, Place: "x"}},
		"at the same place":      {Allocator{Counter: 5, Place: "x"}, "x", 0, Allocator{Counter: 6, Place: "x"}},
		"at another place":       {Allocator{Counter: 5, Place: "x"}, "y", 0, Allocator{Incarnation: 1, Counter: 6, Place: "y"}},
		"two timelines on":       {Allocator{Counter: 5, Place: "x/0000000A"}, "x/0000000C", 0, Allocator{Incarnation: 2, Counter: 6, Place: "x/0000000C"}},
		"a timeline back":        {Allocator{Counter: 5, Place: "x/3"}, "x/1", 0, Allocator{Incarnation: 1, Counter: 6, Place: "x/1"}},
		"another system":         {Allocator{Counter: 5, Place: "x/1"}, "y/9", 0, Allocator{Incarnation: 1, Counter: 6, Place: "y/9"}},
		"no number":              {Allocator{Counter: 5, Place: "x/1"}, "x/z", 0, Allocator{Incarnation: 1, Counter: 6, Place: "x/z"}},
		"at an unknown place":    {Allocator{Counter: 5, Place: "x"}, "", 0, Allocator{Counter: 6, Place: "x"}},
		"above a floor":          {Allocator{Counter: 5}, "", 9, Allocator{Counter: 10}},
		"a floor that is below":  {Allocator{Counter: 5}, "", 3, Allocator{Counter: 6}},
		"a floor further on":     {Allocator{Counter: 5}, "", 3<<48 | 2, Allocator{Incarnation: 3, Counter: 3}},
		"the counter is used up": {Allocator{Counter: MaxCounter}, "", 0, Allocator{Incarnation: 1, Counter: 1}},
		"a floor without counts": {Allocator{Counter: 5}, "", 2<<48 | MaxCounter, Allocator{Incarnation: 3, Counter: 1}},
	} {
		got, value, err := test.a.Next(test.place, test.floor)
		if err != nil || got != test.want || value != got.Value() {
			t.Errorf("%s: got %+v, value %d, %v; want %+v", name, got, value, err, test.want)
		}
		if value <= test.a.Value() || value <= test.floor {
			t.Errorf("%s: %d is not above %d and %d", name, value, test.a.Value(), test.floor)
		}
	}
	last := Allocator{Incarnation: MaxIncarnation, Counter: MaxCounter, Place: "x"}
	if _, _, err := last.Next("", 0); err == nil {
		t.Error("a token above the largest one")
	}
	if _, _, err := last.Next("y", 0); err == nil {
		t.Error("an incarnation above the largest one")
	}
	if _, err := last.Anew(); err == nil {
		t.Error("an incarnation above the largest one")
	}
	anew, err := Allocator{Incarnation: 3, Counter: 9}.Anew()
	if err != nil || anew != (Allocator{Incarnation: 4, Counter: 9}) {
		t.Errorf("%+v, %v", anew, err)
	}
}

func TestWatermark(t *testing.T) {
	w := Watermark(0)
	for _, test := range []struct {
		value     int64
		regressed bool
	}{{5, false}, {5, true}, {4, true}, {6, false}} {
		next, regressed := w.See(test.value)
		if regressed != test.regressed || next < w {
			t.Errorf("%d after %d: %d, %v", test.value, w, next, regressed)
		}
		w = next
	}
}

func TestGuardCompare(t *testing.T) {
	g := Guard{5, "a"}
	for _, test := range []struct {
		value  int64
		grant  string
		enter  Comparison
		raise  Comparison
		raised Guard
	}{
		{4, "a", Stale, Stale, g},
		{5, "a", Current, Current, g},
		{5, "b", Conflict, Conflict, g},
		{6, "b", NotGranted, Current, Guard{6, "b"}},
	} {
		raised, c := g.Raise(test.value, test.grant)
		if g.Compare(test.value, test.grant) != test.enter || c != test.raise || raised != test.raised {
			t.Errorf("%d %s: %v, raised %v to %v", test.value, test.grant, g.Compare(test.value, test.grant), c, raised)
		}
	}
	if c := (Guard{}).Compare(1, "a"); c != NotGranted {
		t.Errorf("a guard that was never raised: %v", c)
	}
}
