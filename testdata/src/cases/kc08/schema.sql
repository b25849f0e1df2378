CREATE TABLE applied_fixes (version bigint PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
