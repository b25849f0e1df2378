-- name: TakeLease :execrows
INSERT INTO exporter_lease (exporter, instance, valid_until)
VALUES ($1, $2, now() + make_interval(secs => $3))
ON CONFLICT (exporter) DO UPDATE
SET instance = EXCLUDED.instance, valid_until = EXCLUDED.valid_until
WHERE exporter_lease.valid_until < now();

-- name: DropLease :exec
DELETE FROM exporter_lease WHERE exporter = $1;

-- name: SetCursor :exec
UPDATE exporter_lease SET cursor = $2 WHERE exporter = $1;
