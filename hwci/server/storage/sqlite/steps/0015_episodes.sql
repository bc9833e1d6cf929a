-- SPDX-License-Identifier: Apache-2.0
-- Keep the order of commits as ranks, and failures that count as one as rows.

-- `rank` numbers the commits of a branch in the order of their places; NULL only within a write.
-- An episode is what counts as one failure: `fix_sha` '' and a `fix_rank` beyond all ranks if no
-- later commit passed. `underived` names the organizations whose rows are to be computed from their
-- reports when the file is opened.
DROP TABLE place;
DROP TABLE failure;
CREATE TABLE place (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  way INTEGER NOT NULL,
  position INTEGER NOT NULL,
  rank INTEGER,
  PRIMARY KEY (org_id, repo_key, sha, branch)
) STRICT, WITHOUT ROWID;
CREATE INDEX place_order ON place (org_id, repo_key, branch, started_at, way, position, sha);
CREATE INDEX place_rank ON place (org_id, repo_key, branch, rank);

CREATE TABLE failure (
  org_id BLOB NOT NULL,
  id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  test INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  rank INTEGER NOT NULL,
  items INTEGER NOT NULL,
  first_started_at INTEGER NOT NULL,
  first_run_id INTEGER NOT NULL,
  first_run_attempt INTEGER NOT NULL,
  first_workflow TEXT NOT NULL,
  first_verdict INTEGER NOT NULL,
  first_ci_run_id INTEGER NOT NULL,
  last_started_at INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  UNIQUE (org_id, id)
) STRICT;
CREATE INDEX failure_at ON failure (org_id, sha, branch, product_id, box_key);
CREATE INDEX failure_lane
  ON failure (org_id, product_id, box_key, branch, test, rank, passed);

CREATE TABLE episode (
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
  flake INTEGER NOT NULL
) STRICT;
CREATE INDEX episode_fix
  ON episode (org_id, product_id, box_key, branch, test, fix_rank, first_rank);
CREATE INDEX episode_lane
  ON episode (org_id, product_id, box_key, branch, test, flake, first_rank);

CREATE TABLE underived (org_id BLOB NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO underived SELECT DISTINCT org_id FROM report;
