package wn16

import (
	"context"
	"sync"
	"time"

	"gorm.io/gorm"
)

type Price struct {
	SKU   string `gorm:"primaryKey"`
	Cents int64
}

type cached struct {
	price   Price
	expires time.Time
}

// Prices is a read-through cache with a mutex per SKU in this process.
type Prices struct {
	db  *gorm.DB
	ttl time.Duration

	mu    sync.Mutex
	items map[string]cached
	locks map[string]*sync.Mutex
}

func New(db *gorm.DB, ttl time.Duration) *Prices {
	return &Prices{db: db, ttl: ttl, items: map[string]cached{}, locks: map[string]*sync.Mutex{}}
}

func (p *Prices) lock(sku string) *sync.Mutex {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.locks[sku]
	if !ok {
		l = new(sync.Mutex)
		p.locks[sku] = l
	}
	return l
}

func (p *Prices) get(sku string) (Price, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.items[sku]
	if !ok || time.Now().After(c.expires) {
		delete(p.items, sku)
		return Price{}, false
	}
	return c.price, true
}

func (p *Prices) put(pr Price) {
	p.mu.Lock()
	p.items[pr.SKU] = cached{price: pr, expires: time.Now().Add(p.ttl)}
	p.mu.Unlock()
}

func (p *Prices) Load(ctx context.Context, sku string) (Price, error) {
	if pr, ok := p.get(sku); ok {
		return pr, nil
	}
	l := p.lock(sku)
	l.Lock()
	defer l.Unlock()
	if pr, ok := p.get(sku); ok {
		return pr, nil
	}
	var pr Price
	if err := p.db.WithContext(ctx).First(&pr, "sku = ?", sku).Error; err != nil {
		return Price{}, err
	}
	p.put(pr)
	return pr, nil
}

// Set refuses when an import of the same SKU is going on in this process.
func (p *Prices) Set(ctx context.Context, sku string, cents int64) (bool, error) {
	l := p.lock(sku)
	if !l.TryLock() {
		return false, nil
	}
	defer l.Unlock()
	pr := Price{SKU: sku, Cents: cents}
	if err := p.db.WithContext(ctx).Model(&Price{}).Where("sku = ?", sku).Update("cents", cents).Error; err != nil {
		return false, err
	}
	p.put(pr)
	return true, nil
}
