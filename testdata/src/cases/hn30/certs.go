package hn30

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/jmoiron/sqlx"
)

type Credential struct {
	ID           int64     `db:"id"`
	OwnerID      string    `db:"owner_id"`
	AccessToken  string    `db:"access_token"`
	RefreshToken string    `db:"refresh_token"`
	ExpiresAt    time.Time `db:"expires_at"`
}

type Vault struct {
	db      *sqlx.DB
	refresh func(context.Context, Credential) (Credential, error)
}

// Token refreshes an OAuth token shortly before it expires.
func (v *Vault) Token(ctx context.Context, owner string) (string, error) {
	var c Credential
	if err := v.db.GetContext(ctx, &c, `SELECT * FROM credentials WHERE owner_id = $1`, owner); err != nil {
		return "", err
	}
	if time.Until(c.ExpiresAt) > 5*time.Minute {
		return c.AccessToken, nil
	}
	next, err := v.refresh(ctx, c)
	if err != nil {
		return "", err
	}
	_, err = v.db.NamedExecContext(ctx, `UPDATE credentials SET access_token = :access_token,
		refresh_token = :refresh_token, expires_at = :expires_at WHERE id = :id`, next)
	return next.AccessToken, err
}

// Renew decides about a certificate from a third party.
func Renew(leaf *x509.Certificate) bool {
	left := time.Until(leaf.NotAfter)
	return left < leaf.NotAfter.Sub(leaf.NotBefore)/3
}
