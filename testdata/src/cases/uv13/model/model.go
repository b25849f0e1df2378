// Package model has the stored types.
package model

// Frontier is what is left to visit of a site.
type Frontier struct {
	Site         string `gorm:"primaryKey"`
	Body         []byte
	Pages        int64
	Fence        int64
	PausedReason string
}

func (Frontier) TableName() string { return "frontiers" }

// Lease is handed out by the coordinator; Fence grows with every hand-out.
type Lease struct {
	Site  string
	Fence int64
	Pages int64
}
