-- Zones, tags and the resources that carry them, in Ranger's JSON.
CREATE TABLE zones (name TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE tag_defs (name TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE tags (id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;
CREATE TABLE tagged_resources (id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;

-- Every version of everything that is neither a policy nor a person; no JSON where the edit deleted it.
CREATE TABLE governed_history (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES edits (version),
    edited_at INTEGER NOT NULL,
    edited_by TEXT NOT NULL,
    json TEXT,
    PRIMARY KEY (kind, key, version)
) STRICT;

-- What an older file holds begins its history with what is there.
INSERT INTO governed_history (kind, key, version, edited_at, edited_by, json)
SELECT 'service definition', service_defs.name, edits.version, edits.edited_at, edits.edited_by, service_defs.json
FROM service_defs, head JOIN edits ON edits.version = head.version;

INSERT INTO governed_history (kind, key, version, edited_at, edited_by, json)
SELECT 'service', services.name, edits.version, edits.edited_at, edits.edited_by, services.json
FROM services, head JOIN edits ON edits.version = head.version;
