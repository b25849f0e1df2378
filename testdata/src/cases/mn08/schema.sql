CREATE TABLE chunk_uploads (
    id         text PRIMARY KEY,
    state      text NOT NULL,
    generation bigint NOT NULL DEFAULT 0, -- fence:token rule=equal
    e_tags     text[] NOT NULL DEFAULT '{}',
    touched_at timestamptz NOT NULL DEFAULT now()
);
