-- SPDX-License-Identifier: Apache-2.0
-- Keep live runs whose box is removed.

-- Live runs as they are kept when their box is removed.
ALTER TABLE live_run RENAME TO earlier_live_run;
DROP INDEX live_run_box;
DROP INDEX live_run_heard;
DROP INDEX live_run_lost;
CREATE TABLE live_run (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  box_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  workflow TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  run_attempt INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  trigger TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  covers BLOB,
  base_sha TEXT,
  truncated INTEGER,
  commits BLOB,
  heard_at INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  ci_url TEXT,
  ci_run INTEGER,
  PRIMARY KEY (org_id, id)
) STRICT;
CREATE INDEX live_run_box ON live_run (org_id, box_id);
CREATE INDEX live_run_heard ON live_run (heard_at) WHERE lost = 0;
CREATE INDEX live_run_lost ON live_run (heard_at) WHERE lost = 1;
INSERT INTO live_run SELECT * FROM earlier_live_run ORDER BY rowid;
DROP TABLE earlier_live_run;
