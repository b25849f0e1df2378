package lab

// A Time is a point in virtual time, in nanoseconds since the start of a run. It is the true
// time, which no clock in the run shows.
type Time int64

// happening is something that will happen.
type happening struct {
	at   Time
	seq  uint64 // in the order in which it was planned: what is planned first happens first
	kind happeningKind
	node int32
	arg  int32 // a message, a fault, an attempt
}

type happeningKind uint8

const (
	wakeNode  happeningKind = iota // the holder's timer
	deliver                        // a message arrives
	timeout                        // a request is given up
	workStep                       // the work goes on
	begin                          // a worker wants the lease
	faultOn                        // a fault begins
	faultOff                       // it ends
	applyLate                      // a write that was checked is applied (a mutant's)
)

// queue is a binary heap of happenings by (at, seq).
type queue struct {
	heap []happening
	seq  uint64
}

func (q *queue) push(h happening) {
	q.seq++
	h.seq = q.seq
	q.heap = append(q.heap, h)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !before(&q.heap[i], &q.heap[up]) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *queue) pop() (happening, bool) {
	if len(q.heap) == 0 {
		return happening{}, false
	}
	top := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	i := 0
	for {
		least := i
		if l := 2*i + 1; l < last && before(&q.heap[l], &q.heap[least]) {
			least = l
		}
		if r := 2*i + 2; r < last && before(&q.heap[r], &q.heap[least]) {
			least = r
		}
		if least == i {
			return top, true
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

func before(a, b *happening) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }
