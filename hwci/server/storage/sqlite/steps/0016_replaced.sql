-- SPDX-License-Identifier: Apache-2.0
-- Keep what something later takes the place of, and when reports and announcements came.

ALTER TABLE announcement ADD COLUMN arrived_at INTEGER;
ALTER TABLE report ADD COLUMN arrived_at INTEGER;
-- What CI sent and no rule reads any more. `body` is JSON, compressed: the fields of the fact.
CREATE TABLE replaced (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  kind TEXT NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  arrived_at INTEGER,
  replaced_at INTEGER NOT NULL,
  body BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;
CREATE INDEX replaced_time ON replaced (org_id, replaced_at);
