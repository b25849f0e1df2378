CREATE TYPE state AS ENUM ('new', 'done');
CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, region text NOT NULL, state state NOT NULL, states state[]);
CREATE TABLE jobs (id text PRIMARY KEY, state state NOT NULL DEFAULT 'new', fence bigint NOT NULL DEFAULT 0);
