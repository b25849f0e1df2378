-- name: ClaimRun :one
UPDATE pipeline_run
SET state = 'running', attempt = attempt + 1, leased_until = now() + make_interval(secs => @secs)
WHERE id = (
  SELECT id FROM pipeline_run
  WHERE state = 'queued' OR (state = 'running' AND leased_until < now())
  ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, pipeline, attempt;

-- name: ExtendRun :execrows
UPDATE pipeline_run SET leased_until = now() + make_interval(secs => @secs)
WHERE id = @id AND attempt = @attempt AND state = 'running';

-- name: CompleteRun :execrows
UPDATE pipeline_run SET state = 'succeeded', output = @output, finished_at = now()
WHERE id = @id AND state = 'running';

-- name: FailRun :execrows
UPDATE pipeline_run SET state = 'failed', last_error = @last_error, finished_at = now()
WHERE id = @id;
