package hc15

import (
	"context"
	"errors"

	sq "github.com/Masterminds/squirrel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

var errNotHolder = errors.New("lease is held by another pod")

type Reconciler struct {
	leases coordv1.LeaseInterface
	sql    sq.StatementBuilderType
	pod    string
}

func (r *Reconciler) holds(ctx context.Context) (bool, error) {
	l, err := r.leases.Get(ctx, "billing", metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	return l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity == r.pod, nil
}

func (r *Reconciler) Apply(ctx context.Context, cluster string, spec []byte) error {
	mine, err := r.holds(ctx)
	if err != nil {
		return err
	}
	if !mine {
		return errNotHolder
	}
	_, err = r.sql.Update("clusters").Set("desired", spec).Where(sq.Eq{"name": cluster}).ExecContext(ctx) // want:C
	return err
}
