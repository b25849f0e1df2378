-- name: SetProgress :execrows
UPDATE exports SET progress = ? WHERE id = ? AND claim = ?;

-- name: SetLocation :execrows
UPDATE exports SET location = ?, progress = 100 WHERE id = ?;

-- name: GetExport :one
SELECT id, format, progress, location, claim FROM exports WHERE id = ?;
