-- SPDX-License-Identifier: Apache-2.0
-- Keep what was decided about episodes, and what a table shows of them.

-- What a table shows of an episode stands in its row, and `decision`: NULL if nobody asked yet, or a
-- report may have changed it since. `decided_by`: the versions of the rules and the configuration.
-- `walk_commit`: the commits that the decision on a fix rests on.
ALTER TABLE suite_config ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episode RENAME TO former;
DROP INDEX episode_fix;
DROP INDEX episode_lane;
CREATE TABLE episode (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  branch TEXT NOT NULL,
  test INTEGER NOT NULL,
  first_rank INTEGER NOT NULL,
  first_sha TEXT NOT NULL,
  last_rank INTEGER NOT NULL,
  last_sha TEXT NOT NULL,
  commits INTEGER NOT NULL,
  fix_rank INTEGER NOT NULL,
  fix_sha TEXT NOT NULL,
  flake INTEGER NOT NULL,
  first_id BLOB NOT NULL,
  started_at INTEGER NOT NULL,
  verdict INTEGER NOT NULL,
  decision TEXT,
  decided_by TEXT
) STRICT;
INSERT INTO episode SELECT NULL, e.*, f.id, f.first_started_at, f.first_verdict, NULL, NULL
  FROM former e JOIN failure f ON f.org_id = e.org_id AND f.sha = e.first_sha
  AND f.branch = e.branch AND f.product_id = e.product_id AND f.box_key = e.box_key
  AND f.test = e.test AND f.rank = e.first_rank;
DROP TABLE former;
CREATE INDEX episode_fix
  ON episode (org_id, product_id, box_key, branch, test, fix_rank, first_rank);
CREATE INDEX episode_lane
  ON episode (org_id, product_id, box_key, branch, test, flake, first_rank);
CREATE INDEX episode_time ON episode (org_id, product_id, started_at);
CREATE INDEX episode_first ON episode (org_id, first_sha);
CREATE INDEX episode_walk ON episode (org_id, last_sha, fix_sha);

CREATE TABLE walk_commit (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  last_sha TEXT NOT NULL,
  fix_sha TEXT NOT NULL,
  sha TEXT NOT NULL,
  PRIMARY KEY (org_id, repo_key, last_sha, fix_sha, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX walk_commit_sha ON walk_commit (org_id, repo_key, sha);
