// Package un19 manages invitations, API keys and certificates of a team.
package un19

import (
	"context"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

var (
	ErrInviteExpired = errors.New("invitation has expired")
	ErrUsed          = errors.New("invitation was used")
)

type Invite struct {
	Code      string       `db:"code"`
	Team      int64        `db:"team"`
	InvitedBy int64        `db:"invited_by"`
	ExpiresAt time.Time    `db:"expires_at"`
	UsedAt    sql.NullTime `db:"used_at"`
}

type APIKey struct {
	ID        int64        `db:"id"`
	CreatedBy int64        `db:"created_by"`
	ExpiresAt time.Time    `db:"expires_at"`
	LastUsed  sql.NullTime `db:"last_used_at"`
}

type Teams struct{ db *sqlx.DB }

// Accept joins a user to the team of an invitation.
func (t *Teams) Accept(ctx context.Context, code string, user int64) error {
	var inv Invite
	if err := t.db.GetContext(ctx, &inv, `SELECT code, team, invited_by, expires_at, used_at FROM team_invite WHERE code = $1`, code); err != nil {
		return err
	}
	if inv.UsedAt.Valid {
		return ErrUsed
	}
	if time.Now().After(inv.ExpiresAt) {
		return ErrInviteExpired
	}
	tx, err := t.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `INSERT INTO team_member (team, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, inv.Team, user); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE team_invite SET used_at = now(), used_by = $2 WHERE code = $1`, code, user); err != nil {
		return err
	}
	return tx.Commit()
}

// Touch accepts an API key that has not expired.
func (t *Teams) Touch(ctx context.Context, id int64) (bool, error) {
	var k APIKey
	if err := t.db.GetContext(ctx, &k, `SELECT id, created_by, expires_at, last_used_at FROM team_api_key WHERE id = $1`, id); err != nil {
		return false, err
	}
	if k.ExpiresAt.Before(time.Now()) {
		return false, nil
	}
	if k.LastUsed.Valid && time.Since(k.LastUsed.Time) < time.Minute {
		return true, nil
	}
	_, err := t.db.ExecContext(ctx, `UPDATE team_api_key SET last_used_at = now() WHERE id = $1`, id)
	return err == nil, err
}

// Cleanup removes what expired a month ago.
func (t *Teams) Cleanup(ctx context.Context) error {
	old := time.Now().AddDate(0, -1, 0)
	for _, table := range []string{"team_invite", "team_api_key"} {
		if _, err := t.db.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s WHERE expires_at < $1`, table), old); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// RenewSoon tells whether a certificate is in the last third of its life.
func RenewSoon(c *x509.Certificate) bool {
	life := c.NotAfter.Sub(c.NotBefore)
	return time.Now().After(c.NotAfter.Add(-life / 3))
}
