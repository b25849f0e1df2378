package migrate

import "github.com/fencelint/fence/internal/sqlstmt"

// What a trigger says, before the table's name. PostgreSQL and MySQL have codes besides,
// SQLite has the text alone.
const (
	StalePrefix    = "fence:stale:"    // the row knows a larger token
	UnfencedPrefix = "fence:unfenced:" // the write carries no token
)

// The codes of what a trigger rejects.
const (
	StaleState    = "ZF001" // SQLSTATE in PostgreSQL
	UnfencedState = "ZF002" // SQLSTATE in PostgreSQL
	StaleNumber   = 31001   // error number in MariaDB and MySQL, of SQLSTATE 45000
)

// A dialect is what migrations differ in. Its texts have the placeholders of
// [names.replacer].
type dialect struct {
	int64               string // the type of a fence column, as a schema has it
	guards              []step
	addFence, dropFence []step
	triggers            []trigger
	// lock and unlock come around statements that wait for a table in use.
	lock, unlock []step
	// note is what to know before triggers are made.
	note string
}

// A trigger is what makes one, and what removes it.
type trigger struct {
	suffix   string
	up, down []step
}

var dialects = map[sqlstmt.Dialect]dialect{
	sqlstmt.Postgres: postgres,
	sqlstmt.MariaDB:  mariadb,
	sqlstmt.MySQL:    mysql,
	sqlstmt.SQLite:   sqlite,
}

const fenceLost = `-- The fences are lost: added again, they start at 0, and every row accepts any token.`

// The tables of guard rows are those of fencedb.GuardTable.Schema, to the letter.
const (
	postgresGuards = `CREATE TABLE IF NOT EXISTS @table (
	resource text   NOT NULL PRIMARY KEY,
	token    bigint NOT NULL CHECK (token > 0),
	grant_id text   NOT NULL
)`
	innodbGuards = `CREATE TABLE IF NOT EXISTS @table (
	resource varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
	token    bigint NOT NULL CHECK (token > 0),
	grant_id varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
) ENGINE = InnoDB`
	sqliteGuards = `CREATE TABLE IF NOT EXISTS @table (
	resource TEXT    NOT NULL PRIMARY KEY,
	token    INTEGER NOT NULL CHECK (typeof(token) = 'integer' AND token > 0),
	grant_id TEXT    NOT NULL
)`
)

func guards(ddl string) []step {
	return []step{{comment: "-- One row for each resource, with the largest token that was raised.", text: ddl}}
}

var postgres = dialect{
	int64:  "bigint",
	guards: guards(postgresGuards),
	// Every row has the default, which need not be checked: to read them all would keep
	// the table locked.
	addFence: []step{{
		comment: "-- NOT VALID: no row is read for the constraint, since all of them have the default.",
		text:    `ALTER TABLE @table ADD COLUMN @fence bigint NOT NULL DEFAULT 0, ADD CONSTRAINT @check CHECK (@fence >= 0) NOT VALID`,
	}},
	dropFence: []step{{comment: fenceLost, text: `ALTER TABLE @table DROP COLUMN @fence`}},
	lock: []step{{
		comment: "-- Who waits for a lock on a table keeps everybody behind it waiting: give up, and try again.",
		text:    `SET lock_timeout = '5s'`,
	}},
	unlock: []step{{text: `RESET lock_timeout`}},
	triggers: []trigger{
		{
			suffix: "bw",
			up: []step{
				{
					comment: `-- Every write to @bare carries its token in the setting fence.token, as generated writers
-- do: SELECT set_config('fence.token', '7', true). It holds up to the end of the transaction.`,
					text: `CREATE OR REPLACE FUNCTION @object() RETURNS trigger LANGUAGE plpgsql AS @quote
DECLARE
	token bigint := nullif(current_setting('fence.token', true), '')::bigint;
BEGIN
	IF token IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'ZF002', MESSAGE = @unfenced,
			DETAIL = 'The write carries no token.', HINT = 'Write through the generated writer.';
	END IF;
	IF TG_OP <> 'INSERT' THEN
		IF token < OLD.@fence THEN
			RAISE EXCEPTION USING ERRCODE = 'ZF001', MESSAGE = @stale,
				DETAIL = format('The write carries token %s, the row knows %s.', token, OLD.@fence);
		END IF;
	END IF;
	IF TG_OP = 'DELETE' THEN
		RETURN OLD;
	END IF;
	NEW.@fence := token;
	RETURN NEW;
END
@quote`,
					body: true,
				},
				{text: `CREATE TRIGGER @name BEFORE INSERT OR UPDATE OR DELETE ON @table
FOR EACH ROW EXECUTE FUNCTION @object()`},
			},
			down: postgresDrop,
		},
		{
			suffix: "bt",
			up: []step{
				{
					comment: "-- TRUNCATE sees no rows, so it cannot compare.",
					text: `CREATE OR REPLACE FUNCTION @object() RETURNS trigger LANGUAGE plpgsql AS @quote
BEGIN
	RAISE EXCEPTION USING ERRCODE = 'ZF002', MESSAGE = @unfenced,
		DETAIL = 'TRUNCATE compares no token.', HINT = 'Delete the rows.';
END
@quote`,
					body: true,
				},
				{text: `CREATE TRIGGER @name BEFORE TRUNCATE ON @table
FOR EACH STATEMENT EXECUTE FUNCTION @object()`},
			},
			down: postgresDrop,
		},
	},
}

var postgresDrop = []step{{text: `DROP TRIGGER @name ON @table`}, {text: `DROP FUNCTION @object()`}}

const mysqlNote = `-- While the binary log is on, triggers need the privilege SUPER, or on the server
-- log_bin_trust_function_creators = 1; else error 1419 ends the migration in the middle.`

var mariadb = dialect{
	int64:     "bigint",
	guards:    guards(innodbGuards),
	addFence:  []step{{text: `ALTER TABLE @table ADD COLUMN @fence BIGINT NOT NULL DEFAULT 0 CHECK (@fence >= 0)`}},
	dropFence: []step{{comment: fenceLost, text: `ALTER TABLE @table DROP COLUMN @fence`}},
	triggers:  innodbTriggers,
	note:      mysqlNote,
}

var mysql = dialect{
	int64:  "bigint",
	guards: guards(innodbGuards),
	addFence: []step{{
		comment: "-- The constraint has the table copied. Without it the column is there at once.",
		text:    `ALTER TABLE @table ADD COLUMN @fence BIGINT NOT NULL DEFAULT 0 CONSTRAINT @check CHECK (@fence >= 0)`,
	}},
	// A column that a constraint has does not go.
	dropFence: []step{
		{text: `ALTER TABLE @table DROP CHECK @check`},
		{comment: fenceLost, text: `ALTER TABLE @table DROP COLUMN @fence`},
	},
	triggers: innodbTriggers,
	note:     mysqlNote,
}

var innodbTriggers = []trigger{
	{
		suffix: "bu",
		up: []step{{
			comment: `-- No UPDATE lowers a fence. One that does not name it passes, and so do DELETE, TRUNCATE and
-- what foreign keys do.`,
			text: `CREATE TRIGGER @object BEFORE UPDATE ON @table FOR EACH ROW
BEGIN
	IF NEW.@fence < OLD.@fence THEN
		SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = @stale;
	END IF;
END`,
			body: true,
		}},
		down: []step{{text: `DROP TRIGGER @object`}},
	},
	{
		suffix: "bi",
		// The trigger may not lock the row for writing (error 1442), but a read without a
		// lock would see what the transaction saw first.
		up: []step{{
			comment: `-- REPLACE fires no trigger for UPDATE, so this one looks at the row of the same key. It locks
-- what it reads: transactions that insert new keys side by side may end in a deadlock (error
-- 1213), and one of them has to be repeated; under READ COMMITTED only those of one key.`,
			text: `CREATE TRIGGER @object BEFORE INSERT ON @table FOR EACH ROW
BEGIN
	IF EXISTS (SELECT 1 FROM @table WHERE @same AND @fence > NEW.@fence LOCK IN SHARE MODE) THEN
		SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = @stale;
	END IF;
END`,
			body: true,
		}},
		down: []step{{text: `DROP TRIGGER @object`}},
	},
}

var sqlite = dialect{
	int64:  "integer",
	guards: guards(sqliteGuards),
	addFence: []step{{
		text: `ALTER TABLE @table ADD COLUMN @fence INTEGER NOT NULL DEFAULT 0 CHECK (typeof(@fence) = 'integer' AND @fence >= 0)`,
	}},
	dropFence: []step{{comment: fenceLost, text: `ALTER TABLE @table DROP COLUMN @fence`}},
	triggers: []trigger{
		{
			suffix: "bu",
			up: []step{{
				comment: "-- No UPDATE lowers a fence. One that does not name it passes, and so does DELETE.",
				text: `CREATE TRIGGER @object BEFORE UPDATE ON @bare
WHEN NEW.@fence < OLD.@fence
BEGIN
	SELECT RAISE(ABORT, @stale);
END`,
				body: true,
			}},
			down: []step{{text: `DROP TRIGGER @object`}},
		},
		{
			suffix: "bi",
			up: []step{{
				comment: "-- REPLACE fires no trigger for UPDATE, so this one looks at the row of the same key.",
				text: `CREATE TRIGGER @object BEFORE INSERT ON @bare
WHEN EXISTS (SELECT 1 FROM @bare WHERE @same AND @fence > NEW.@fence)
BEGIN
	SELECT RAISE(ABORT, @stale);
END`,
				body: true,
			}},
			down: []step{{text: `DROP TRIGGER @object`}},
		},
	},
}
