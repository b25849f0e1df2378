package etcdlease

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"

	"github.com/fencelint/fence/fencedb"
)

// errRaced says that what was read has changed before the transaction came, which has done
// nothing: read it again and decide anew.
var errRaced = errors.New("etcdlease: the keys have changed")

func refused(err error) error { return fmt.Errorf("%w: %w", fencedb.ErrRefused, err) }

// permanent are the codes by which etcd says that asking again does not help.
var permanent = map[codes.Code]bool{
	codes.InvalidArgument:  true,
	codes.PermissionDenied: true,
	codes.Unauthenticated:  true,
}

// certain are those by which it says that it has not carried a request out. Every other
// code says nothing: also Unavailable, which a connection that breaks in the middle gives.
var certain = map[codes.Code]bool{
	codes.NotFound:           true,
	codes.FailedPrecondition: true,
	codes.ResourceExhausted:  true,
}

// before wraps the error of a step that comes before the transaction that decides: that one
// was never sent, whatever became of this step.
func before(what string, err error) error {
	if errors.Is(err, fencedb.ErrRefused) {
		return err
	}
	if refuses(err) {
		return fmt.Errorf("%w: %s: %w", fencedb.ErrRefused, what, err)
	}
	return fmt.Errorf("%w: %s: %w", fencedb.ErrNotSent, what, err)
}

// decisive wraps the error of the transaction that decides.
func decisive(what string, err error) error {
	if refuses(err) {
		return fmt.Errorf("%w: %s: %w", fencedb.ErrRefused, what, err)
	}
	if errors.Is(err, rpctypes.ErrLeaseNotFound) { // it was over before it was used
		return errRaced
	}
	if byEtcd(err, certain) {
		return fmt.Errorf("%w: %s: %w", fencedb.ErrNotSent, what, err)
	}
	return fmt.Errorf("etcdlease: no answer to %s: %w", what, err)
}

// refuses tells whether etcd says by err that asking again does not help. An outdated
// revision of its users' table is made good by asking again.
func refuses(err error) bool {
	return byEtcd(err, permanent) && !errors.Is(err, rpctypes.ErrAuthOldRevision)
}

// byEtcd tells whether err is an answer of etcd with one of the codes.
func byEtcd(err error, of map[codes.Code]bool) bool {
	var e rpctypes.EtcdError
	return errors.As(err, &e) && of[e.Code()]
}

// leaving returns the error of a request whose context has ended before it was sent.
func leaving(ctx context.Context, what string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %s: %w", fencedb.ErrNotSent, what, err)
	}
	return nil
}

func checkResource(resource string) error {
	if _, err := fencedb.ExternalToken(resource, 1); err != nil {
		return refused(err)
	}
	return nil
}
