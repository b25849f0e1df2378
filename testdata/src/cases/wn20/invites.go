package wn20

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

var (
	ErrExpired = errors.New("invitation has expired")
	ErrScope   = errors.New("key may not do that")
)

type invite struct {
	ID        string     `db:"id"`
	OrgID     int64      `db:"org_id"`
	Email     string     `db:"email"`
	InvitedBy int64      `db:"invited_by"`
	ExpiresAt time.Time  `db:"expires_at"`
	UsedAt    *time.Time `db:"used_at"`
}

type apiKey struct {
	Hash      string     `db:"hash"`
	OrgID     int64      `db:"org_id"`
	Write     bool       `db:"can_write"`
	ExpiresAt *time.Time `db:"expires_at"`
}

// Orgs is about people, not about processes: invitations and API keys end at
// an agreed time.
type Orgs struct{ db *sqlx.DB }

func (o *Orgs) Invite(ctx context.Context, org, by int64, email string) (string, error) {
	in := invite{ID: uuid.NewString(), OrgID: org, Email: email, InvitedBy: by, ExpiresAt: time.Now().Add(72 * time.Hour)}
	_, err := o.db.NamedExecContext(ctx, `INSERT INTO invites (id, org_id, email, invited_by, expires_at)
		VALUES (:id, :org_id, :email, :invited_by, :expires_at)`, in)
	return in.ID, err
}

func (o *Orgs) Accept(ctx context.Context, id string, user int64) error {
	var in invite
	if err := o.db.GetContext(ctx, &in, `SELECT * FROM invites WHERE id = $1`, id); err != nil {
		return err
	}
	if in.UsedAt != nil || time.Now().After(in.ExpiresAt) {
		return ErrExpired
	}
	res, err := o.db.ExecContext(ctx, `UPDATE invites SET used_at = now(), used_by = $2 WHERE id = $1 AND used_at IS NULL`, id, user)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrExpired, err)
	}
	_, err = o.db.ExecContext(ctx, `INSERT INTO members (org_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, in.OrgID, user)
	return err
}

func (o *Orgs) key(r *http.Request) (*apiKey, error) {
	sum := sha256.Sum256([]byte(r.Header.Get("X-Api-Key")))
	var k apiKey
	err := o.db.GetContext(r.Context(), &k, `SELECT hash, org_id, can_write, expires_at FROM api_keys
		WHERE hash = $1 AND (expires_at IS NULL OR expires_at > $2)`, hex.EncodeToString(sum[:]), time.Now().UTC())
	return &k, err
}

// Rename is called with an API key that must be allowed to write.
func (o *Orgs) Rename(w http.ResponseWriter, r *http.Request) {
	k, err := o.key(r)
	if err == nil && !k.Write {
		err = ErrScope
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if _, err := o.db.ExecContext(r.Context(), `UPDATE orgs SET name = $2 WHERE id = $1`, k.OrgID, r.FormValue("name")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (o *Orgs) Purge(ctx context.Context) error {
	_, err := o.db.ExecContext(ctx, `DELETE FROM invites WHERE expires_at < $1`, time.Now().AddDate(0, -1, 0))
	return err
}
