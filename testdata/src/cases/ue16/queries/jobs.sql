-- name: TouchJob :exec
UPDATE export_job SET touched_at = $3 WHERE id = $1 AND worker = $2;

-- name: RequeueSilent :many
UPDATE export_job
SET state = 'queued', worker = NULL, attempt = attempt + 1
WHERE state = 'running' AND worker IS NOT NULL AND touched_at < $1
RETURNING id, attempt;
