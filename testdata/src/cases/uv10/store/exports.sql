-- name: ClaimExport :one
UPDATE exports
SET state = 'running', attempt = attempt + 1, lease_until = now() + make_interval(secs => @secs)
WHERE id = (
    SELECT id FROM exports
    WHERE state = 'queued' OR (state = 'running' AND lease_until < now())
    ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, format, attempt;

-- name: CompleteExport :execrows
UPDATE exports SET state = 'done', url = @url WHERE id = @id AND attempt = @attempt;

-- name: FailExport :exec
UPDATE exports SET state = 'failed', error = @error WHERE id = @id;
