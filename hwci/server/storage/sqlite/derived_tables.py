# SPDX-License-Identifier: Apache-2.0
"""Tables of what is derived from reports, as `hwci.engine.derived` decides it. `migrations.py` has
their order.
"""

# `rank` numbers the commits of a branch in the order of their places; NULL only within a write.
# An episode is what counts as one failure: `fix_sha` '' and a `fix_rank` beyond all ranks if no
# later commit passed. `underived` names the organizations whose rows are to be computed from their
# reports when the file is opened.
EPISODES = """
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
"""

# What a table shows of an episode stands in its row, and `decision`: NULL if nobody asked yet, or a
# report may have changed it since. `decided_by`: the versions of the rules and the configuration.
# `walk_commit`: the commits that the decision on a fix rests on.
DECISIONS = """
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
"""

# Sums over days in UTC; day 0 is 1970-01-01. `day_run`: of reports with the same box and set of
# tests, those that reached the hardware; of first parts, all and those that did not. `day_item`: of
# counted items with a failed attempt, all and those of flakes. `set_id` of a test list: the list of
# the same tests in the order of their numbers.
DAYS = """
ALTER TABLE template ADD COLUMN set_id INTEGER;
CREATE TABLE day_run (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  template_id INTEGER NOT NULL,
  reports INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  infra INTEGER NOT NULL,
  PRIMARY KEY (org_id, product_id, day, box_key, template_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE day_item (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  test INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  items INTEGER NOT NULL,
  flakes INTEGER NOT NULL,
  PRIMARY KEY (org_id, product_id, day, test, outcome, attempts)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO underived SELECT DISTINCT org_id FROM report;
"""

# `reviewed`: a review is stored at the failure. Pages find those of an episode by the index.
REVIEWED = """
ALTER TABLE failure ADD COLUMN reviewed INTEGER NOT NULL DEFAULT 0;
UPDATE failure SET reviewed = 1
  WHERE (org_id, id) IN (SELECT org_id, failure_id FROM review);
CREATE INDEX failure_reviewed
  ON failure (org_id, product_id, box_key, branch, test, rank) WHERE reviewed = 1;
"""
