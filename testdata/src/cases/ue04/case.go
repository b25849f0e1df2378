package ue04

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

// Series numbers the documents of one branch without gaps.
type Series struct {
	ID     uint
	Branch string `gorm:"uniqueIndex"`
	Next   int64
}

type Document struct {
	ID       uint
	SeriesID uint
	Number   int64
	Title    string
}

type Numberer struct {
	db *gorm.DB
	rs *redsync.Redsync
}

var ErrUnknownBranch = errors.New("unknown branch")

// Issue hands out the next number of the branch. Replicas are kept apart by a
// mutex in redis.
func (n *Numberer) Issue(ctx context.Context, branch, title string) (doc *Document, err error) { // may:M
	mu := n.rs.NewMutex("series:"+branch, redsync.WithExpiry(8*time.Second), redsync.WithTries(20))
	if err := mu.LockContext(ctx); err != nil {
		return nil, fmt.Errorf("lock series %s: %w", branch, err)
	}
	defer func() {
		if ok, uerr := mu.UnlockContext(context.WithoutCancel(ctx)); !ok || uerr != nil {
			log.Printf("unlock series %s: ok=%v err=%v", branch, ok, uerr)
		}
	}()

	var s Series
	res := n.db.WithContext(ctx).Where("branch = ?", branch).Take(&s)
	if errors.Is(res.Error, gorm.ErrRecordNotFound) {
		return nil, ErrUnknownBranch
	}
	if res.Error != nil {
		return nil, res.Error
	}
	doc = &Document{SeriesID: s.ID, Number: s.Next, Title: title}
	if err := n.db.WithContext(ctx).Create(doc).Error; err != nil { // may:C
		return nil, err
	}
	next := s.Next + 1
	if err := n.db.WithContext(ctx).Model(&Series{}).Where("id = ?", s.ID).Update("next", next).Error; err != nil { // want:C
		return nil, fmt.Errorf("advance series %s: %w", branch, err)
	}
	return doc, nil
}
