-- Where the store stands; one row.
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    next_policy_id INTEGER NOT NULL
) STRICT;

-- The newest of each thing, in Ranger's JSON.
CREATE TABLE service_defs (name TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE services (name TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE policies (id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE roles (name TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE groups (name TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE users (name TEXT PRIMARY KEY, credential TEXT, json TEXT NOT NULL) STRICT;

-- Who changed what and when; the first row is the state that the store began with.
CREATE TABLE edits (
    version INTEGER PRIMARY KEY,
    edited_at INTEGER NOT NULL,
    edited_by TEXT NOT NULL,
    summary TEXT NOT NULL
) STRICT;

-- Every version of every policy; no JSON where the edit deleted it.
CREATE TABLE policy_history (
    policy_id INTEGER NOT NULL,
    version INTEGER NOT NULL REFERENCES edits (version),
    edited_at INTEGER NOT NULL,
    edited_by TEXT NOT NULL,
    json TEXT,
    PRIMARY KEY (policy_id, version)
) STRICT;

CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
