-- The first form. Times are milliseconds since 1970 in UTC; ids are lower-case UUIDs.

-- One row a run, written when it is created and when its line in lists changes, never per commit.
CREATE TABLE run (
    number     INTEGER PRIMARY KEY,  -- the order of creation
    id         TEXT NOT NULL UNIQUE,
    -- What lists filter by, and the whole line as JSON; all are null until a commit brings a summary.
    workflow   TEXT,
    status     TEXT,
    started_at INTEGER,
    summary    TEXT
) STRICT;

CREATE INDEX run_by_status ON run (status);
CREATE INDEX run_by_workflow ON run (workflow);

-- The ids of a run's nodes as a JSON array: entries name nodes by their place in it. Apart from `run`, because SQLite
-- writes a row anew as a whole, and the list of ten thousand nodes is long.
CREATE TABLE names (
    run   INTEGER PRIMARY KEY,
    names TEXT NOT NULL
) STRICT;

-- One row a commit. `entries` is JSON as text, not JSONB: the sqlite3 tool of Debian 12 (3.40) cannot read JSONB.
-- `run` refers to run.number; a declared reference would cost a look-up per append for what the one writer keeps.
-- Rows stand in the order in which they were written, whatever run they belong to: a commit of three hundred runs then
-- touches a few pages, where a table sorted by run would touch three hundred. The index is what finds a run's rows.
CREATE TABLE commits (
    number    INTEGER PRIMARY KEY,
    run       INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    commit_id TEXT NOT NULL,
    fence     INTEGER NOT NULL,
    entries   TEXT NOT NULL,
    checksum  BLOB NOT NULL  -- over this row and the checksum of the one before
) STRICT;

CREATE UNIQUE INDEX commits_of_run ON commits (run, first_seq);

-- Commands on their way to the owners of runs, oldest first.
CREATE TABLE mailbox (
    number  INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    run     TEXT NOT NULL,
    command TEXT NOT NULL
) STRICT;

CREATE TABLE blob (
    digest BLOB PRIMARY KEY,  -- SHA-256 of the bytes
    bytes  BLOB NOT NULL
) STRICT;

-- Views for people. They use nothing that SQLite 3.40 lacks.

CREATE VIEW runs AS
SELECT
    number,
    id AS run_id,
    workflow,
    json_extract(summary, '$.version') AS version,
    status,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(summary, '$.ended_at') / 1000.0, 'unixepoch') AS ended_at,
    json_extract(summary, '$.exit') AS exit_code,
    json_extract(summary, '$.degraded') AS degraded,
    json_extract(summary, '$.counts.nodes') AS nodes,
    json_extract(summary, '$.counts.completed') AS completed,
    json_extract(summary, '$.counts.failed') AS failed,
    json_extract(summary, '$.counts.skipped') AS skipped,
    json_extract(summary, '$.counts.cancelled') AS cancelled,
    json_extract(summary, '$.failure.node') AS failed_node,
    json_extract(summary, '$.failure.code') AS error_code,
    json_extract(summary, '$.failure.message') AS error_message,
    json_extract(summary, '$.usage.usd') AS usd,
    json_extract(summary, '$.owner') AS owner,
    json_extract(summary, '$.previous_run') AS previous_run,
    json_extract(summary, '$.retry_count') AS retry_count,
    json_extract(summary, '$.graph_hash') AS graph_hash,
    json_extract(summary, '$.seq') AS seq
FROM run;

-- One row an entry of a journal.
CREATE VIEW entries AS
SELECT
    run.id AS run_id,
    commits.first_seq + entry.key AS seq,
    commits.at AS at_ms,
    commits.fence AS fence,
    kind.key AS kind,
    kind.value AS body
FROM run
JOIN commits ON commits.run = run.number
JOIN json_each(commits.entries, '$.entries') AS entry
JOIN json_each(entry.value) AS kind;

-- The two views below expand the journal of a run once, in a subquery that depends on the run alone. Written as plain
-- joins with GROUP BY, SQLite would read the journals of all runs to show one.

-- One row a node. Each node has a first row of its own (`pending`), so that nodes without entries are seen, too; the
-- last move is the state. With a single max(), the other columns are those of its row: SQLite promises that.
CREATE VIEW nodes AS
SELECT
    run.id AS run_id,
    json_extract(node.value, '$[0]') AS node,
    json_extract(node.value, '$[1]') AS state,
    json_extract(node.value, '$[2]') AS attempts,
    json_extract(node.value, '$[3]') AS error_code,
    json_extract(node.value, '$[4]') AS error_message,
    json_extract(node.value, '$[5]') AS reason,
    json_extract(node.value, '$[6]') AS retry_at,
    json_extract(node.value, '$[7]') AS since,
    json_extract(node.value, '$[8]') AS node_index
FROM run
JOIN json_each((
    SELECT json_group_array(json_array(
        name, state, attempts, error_code, error_message, reason, retry_at, since, node_index
    ))
    FROM (
        SELECT
            coalesce(group_concat(name), node) AS name,
            CASE
                WHEN kind IN ('started', 'produced', 'checked', 'graded', 'unknown') THEN 'running'
                WHEN kind = 'asked' THEN 'awaiting_approval'
                ELSE kind
            END AS state,
            count(*) FILTER (WHERE kind = 'started') AS attempts,
            CASE kind WHEN 'failed' THEN json_extract(body, '$.error.code') END AS error_code,
            CASE kind WHEN 'failed' THEN json_extract(body, '$.error.message') END AS error_message,
            CASE kind
                WHEN 'skipped' THEN json_extract(body, '$.reason')
                WHEN 'cancelled' THEN json_extract(body, '$.cause')
            END AS reason,
            CASE
                WHEN kind = 'failed' AND count(*) FILTER (WHERE kind = 'finalised') = 0
                THEN strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(body, '$.due') / 1000.0, 'unixepoch')
            END AS retry_at,
            strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS since,
            node AS node_index,
            -- What ends the waiting for a retry is no move.
            max(CASE kind WHEN 'finalised' THEN -1 ELSE seq END)
        FROM (
            SELECT name.key AS node, name.value AS name, 0 AS seq, NULL AS at, 'pending' AS kind, NULL AS body
            FROM names
            JOIN json_each(names.names) AS name
            WHERE names.run = run.number
            UNION ALL
            SELECT json_extract(kind.value, '$.node'), NULL, first_seq + entry.key, at, kind.key, kind.value
            FROM commits
            JOIN json_each(commits.entries, '$.entries') AS entry
            JOIN json_each(entry.value) AS kind
            WHERE commits.run = run.number
                AND kind.key IN ('ready', 'started', 'produced', 'checked', 'graded', 'unknown', 'asked', 'approved',
                    'completed', 'failed', 'finalised', 'skipped', 'cancelled')
        )
        GROUP BY node
    )
)) AS node;

-- One row an attempt. Its attempt_id is a version 5 UUID, which SQL cannot compute: `sprag show --json` prints it.
-- Leases of this store have no end by time, so lease_expires_at is null.
CREATE VIEW attempts AS
SELECT
    run.id AS run_id,
    json_extract(attempt.value, '$[0]') AS node_id,
    json_extract(attempt.value, '$[1]') AS attempt,
    json_extract(attempt.value, '$[2]') AS status,
    json_extract(attempt.value, '$[3]') AS last_error,
    json_extract(attempt.value, '$[4]') AS retry_after_ms,
    json_extract(attempt.value, '$[5]') AS lock_owner,
    NULL AS lease_expires_at,
    json_extract(attempt.value, '$[6]') AS started_at,
    json_extract(attempt.value, '$[7]') AS ended_at,
    json_extract(attempt.value, '$[8]') AS checkpoint_token
FROM run
JOIN json_each((
    SELECT json_group_array(json_array(
        node_id, attempt, status, last_error, retry_after_ms, lock_owner, started_at, ended_at, checkpoint_token
    ))
    FROM (
        SELECT
            node_id,
            attempt,
            CASE
                WHEN kind IN ('started', 'produced', 'checked', 'graded', 'unknown') THEN 'running'
                WHEN kind = 'asked' THEN 'awaiting_approval'
                ELSE kind
            END AS status,
            CASE
                WHEN kind IN ('failed', 'unknown')
                THEN json_extract(body, '$.error.code') || ': ' || json_extract(body, '$.error.message')
            END AS last_error,
            CASE kind WHEN 'failed' THEN json_extract(body, '$.due') - at END AS retry_after_ms,
            -- An attempt starts once, so each of these is about one row.
            group_concat(owner) FILTER (WHERE kind = 'started') AS lock_owner,
            strftime('%Y-%m-%dT%H:%M:%fZ', (sum(at) FILTER (WHERE kind = 'started')) / 1000.0, 'unixepoch')
                AS started_at,
            CASE
                WHEN kind IN ('completed', 'failed', 'skipped', 'cancelled')
                THEN strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')
            END AS ended_at,
            sum(fence) FILTER (WHERE kind = 'started') AS checkpoint_token,
            -- What becomes of the node after its attempt failed or completed is not the attempt's.
            max(CASE WHEN kind IN ('failed', 'completed') THEN seq + (1 << 60) ELSE seq END)
        FROM (
            -- An entry without a number of its own is of the attempt before; an owner owns until the next one does.
            SELECT
                node,
                coalesce(max(name) OVER (PARTITION BY node), node) AS node_id,
                max(attempt) OVER (PARTITION BY node ORDER BY seq) AS attempt,
                substr(max(owned) OVER (ORDER BY seq), 21) AS owner,
                seq,
                at,
                fence,
                kind,
                body
            FROM (
                SELECT name.key AS node, name.value AS name, NULL AS attempt, NULL AS owned, 0 AS seq, NULL AS at,
                    NULL AS fence, 'pending' AS kind, NULL AS body
                FROM names
                JOIN json_each(names.names) AS name
                WHERE names.run = run.number
                UNION ALL
                SELECT json_extract(kind.value, '$.node'), NULL, json_extract(kind.value, '$.attempt'),
                    CASE kind.key
                        WHEN 'owned' THEN printf('%020d', first_seq + entry.key) || json_extract(kind.value, '$.owner')
                    END,
                    first_seq + entry.key, at, fence, kind.key, kind.value
                FROM commits
                JOIN json_each(commits.entries, '$.entries') AS entry
                JOIN json_each(entry.value) AS kind
                WHERE commits.run = run.number
                    AND kind.key IN ('owned', 'started', 'produced', 'checked', 'graded', 'unknown', 'asked',
                        'approved', 'completed', 'failed', 'skipped', 'cancelled')
            )
        )
        WHERE node IS NOT NULL AND attempt IS NOT NULL
        GROUP BY node, attempt
    )
)) AS attempt;
