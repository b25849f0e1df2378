package electors

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A term is for how long a candidate believes that it is the leader.
type term struct {
	began    time.Time
	over     <-chan struct{} // closed at its end
	believes func() bool     // as the library has it
}

// A campaign is a candidate of one election. It stands until ctx ends, sends its requests
// through n, and calls elected once if it is.
type campaign func(ctx context.Context, id string, n *network, elected func(term)) error

// An outcome is what came of one election under one fault.
type outcome struct {
	overlap time.Duration // for which both candidates believed that they were the leader
	gap     time.Duration // for which neither did, from the end of one to the election of the other
}

// patience is longer than any takeover takes.
const patience = 2 * time.Minute

// measure has one candidate elected, and then the other stand while the fault strikes the first.
func measure(ctx context.Context, stand campaign, f fault) (outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	var candidates sync.WaitGroup
	defer candidates.Wait()
	defer cancel()
	enter := func(id string, n *network) (term, error) {
		won, failed := make(chan term, 1), make(chan error, 1)
		candidates.Go(func() {
			failed <- stand(ctx, id, n, func(t term) {
				t.began = time.Now()
				won <- t
			})
		})
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case t := <-won:
			return t, nil
		case err := <-failed:
			return term{}, fmt.Errorf("the %s candidate has given up: %w", id, err)
		case <-timer.C:
			return term{}, fmt.Errorf("the %s candidate was not elected in %v", id, patience)
		}
	}

	n := &network{fault: f}
	first, err := enter("first", n)
	if err != nil {
		return outcome{}, err
	}
	n.strikeAfter(first.began)
	ended := make(chan time.Time, 1)
	candidates.Go(func() {
		<-first.over
		ended <- time.Now()
	})
	second, err := enter("second", &network{})
	if err != nil {
		return outcome{}, err
	}
	both := first.believes()
	var end time.Time
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case end = <-ended:
	case <-timer.C:
		return outcome{}, fmt.Errorf("the first candidate's term is not over %v after the second was elected", patience)
	}
	switch {
	case !n.struck():
		return outcome{}, fmt.Errorf("the fault has not struck")
	case first.believes():
		return outcome{}, fmt.Errorf("the first candidate believes that it is the leader after the end of its term")
	case !second.believes():
		return outcome{}, fmt.Errorf("the second candidate, which no fault strikes, has lost its term")
	}
	o := outcome{gap: max(0, second.began.Sub(end))}
	if both {
		o.overlap = max(0, end.Sub(second.began))
	}
	return o, nil
}
