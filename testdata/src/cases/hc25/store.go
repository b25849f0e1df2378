package hc25

import (
	"context"
	"hash/crc32"

	"gorm.io/gorm"

	"example.com/corpus/cases/hc25/cluster"
)

type Account struct {
	ID    string
	Total int64
}

type Ledger struct {
	m  *cluster.Membership
	db *gorm.DB
}

func (l *Ledger) Apply(ctx context.Context, id string, total int64) (handled bool, err error) {
	if !l.m.OwnsShard(int(crc32.ChecksumIEEE([]byte(id)) % 64)) {
		return false, nil
	}
	return true, l.db.WithContext(ctx).Model(&Account{}).Where("id = ?", id).UpdateColumn("total", total).Error // want:C
}
