-- SPDX-License-Identifier: Apache-2.0
-- Make the first schema.

CREATE TABLE organization (
  id BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  ci_metrics_enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE user (
  id BLOB NOT NULL PRIMARY KEY,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE membership (
  org_id BLOB NOT NULL REFERENCES organization (id),
  user_id BLOB NOT NULL REFERENCES user (id),
  role TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, user_id)
) STRICT;
CREATE INDEX membership_user ON membership (user_id);

CREATE TABLE session (
  id BLOB NOT NULL PRIMARY KEY,
  user_id BLOB NOT NULL REFERENCES user (id),
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX session_user ON session (user_id);

CREATE TABLE refresh_token (
  digest BLOB NOT NULL PRIMARY KEY,
  session_id BLOB NOT NULL REFERENCES session (id),
  user_id BLOB NOT NULL REFERENCES user (id),
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX refresh_token_user ON refresh_token (user_id, expires_at);

CREATE TABLE ci_key (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  name TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (org_id, id)
) STRICT;

CREATE TABLE audit_entry (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  at INTEGER NOT NULL,
  actor_id BLOB NOT NULL,
  actor_name TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT;
CREATE INDEX audit_entry_at ON audit_entry (org_id, at);

-- `history_version` numbers the state of everything below: what was read of one number stays true.
-- `suite` of an announcement is '' when omitted: to a unique index no NULL equals another.
-- A test's `number` counts within its product, so that a set of tests is a small bit mask.
-- `item` has a row only for an item that is not a pass at the first attempt without verdict.
-- Derived in `report`: `ci_run_id`, `tests` (how many), `fails` (the mask of failing tests) and
-- `carried` (whether it speaks for its changes); in `item`: `product_id`, `started_at` and `counted`
-- (the report's product, start and `hello_ok`) and `failure_id`.
CREATE TABLE history_version (
  org_id BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE announcement (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  merged_at INTEGER NOT NULL,
  UNIQUE (org_id, repo_key, suite, sha)
) STRICT;
CREATE INDEX announcement_time ON announcement (org_id, merged_at);

CREATE TABLE suite_config (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, suite)
) STRICT;

CREATE TABLE review (
  org_id BLOB NOT NULL,
  failure_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  test_id TEXT NOT NULL,
  box_key TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  action TEXT NOT NULL,
  by_id TEXT NOT NULL,
  by_name TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org_id, failure_id)
) STRICT;

CREATE TABLE product (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  UNIQUE (org_id, repo_key, suite)
) STRICT;

CREATE TABLE test (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (org_id, product_id, number),
  UNIQUE (org_id, product_id, name)
) STRICT;

CREATE TABLE template (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  digest BLOB NOT NULL,
  tests BLOB NOT NULL,
  UNIQUE (org_id, product_id, digest)
) STRICT;

CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  digest BLOB NOT NULL,
  base_sha TEXT,
  truncated INTEGER NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (org_id, repo_key, digest)
) STRICT;
CREATE INDEX changes_base ON changes (org_id, repo_key, base_sha);

CREATE TABLE report (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  run_attempt INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  product_id INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  trigger TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  conclusion TEXT NOT NULL,
  hello_ok INTEGER NOT NULL,
  template_id INTEGER NOT NULL,
  tests INTEGER NOT NULL,
  fails BLOB,
  durations BLOB NOT NULL,
  covers BLOB,
  changes_id INTEGER,
  carried INTEGER NOT NULL,
  part_run_id INTEGER,
  part INTEGER,
  parts INTEGER,
  ci_run_id INTEGER NOT NULL,
  UNIQUE (org_id, repo_key, run_id, run_attempt, box_key)
) STRICT;
CREATE INDEX report_commit ON report (org_id, product_id, box_key, sha, hello_ok);
CREATE INDEX report_sha ON report (org_id, repo_key, sha, hello_ok, product_id, box_key);
CREATE INDEX report_run
  ON report (org_id, repo_key, workflow, branch, sha, started_at, run_id, run_attempt, box_key);
CREATE INDEX report_time
  ON report (org_id, product_id, started_at, hello_ok, part, box_key, template_id);
CREATE INDEX report_changes ON report (org_id, changes_id) WHERE changes_id IS NOT NULL;
CREATE INDEX report_part
  ON report (org_id, repo_key, part_run_id, run_attempt, box_key) WHERE part_run_id IS NOT NULL;

CREATE TABLE item (
  org_id BLOB NOT NULL,
  report_id INTEGER NOT NULL,
  test INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  verdict INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  failure_id BLOB,
  PRIMARY KEY (org_id, report_id, test)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_time
  ON item (org_id, product_id, started_at, test, outcome, attempts)
  WHERE counted = 1 AND (outcome = 1 OR attempts > 1);
CREATE INDEX item_failing
  ON item (org_id, product_id, started_at, failure_id) WHERE failure_id IS NOT NULL;
CREATE INDEX item_failure ON item (org_id, failure_id) WHERE failure_id IS NOT NULL;

-- A failure's place and the place of its next pass stand in its own row: groups and labels are then
-- read without a join. No next pass: `next_pass` '' and a `next_at` beyond all times.
CREATE TABLE changes_commit (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  sha TEXT NOT NULL,
  changes_id INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, sha, changes_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_changes (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  workflow TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  run_attempt INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  changes_id INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, workflow, branch, sha, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_changes_list ON run_changes (org_id, changes_id);

CREATE TABLE mention (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  way INTEGER NOT NULL,
  position INTEGER NOT NULL,
  report_id INTEGER NOT NULL,
  tested INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, sha, branch, started_at, way, position, report_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE place (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  way INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, sha, branch)
) STRICT, WITHOUT ROWID;
CREATE INDEX place_order ON place (org_id, repo_key, branch, started_at, way, position, sha);

CREATE TABLE failure (
  org_id BLOB NOT NULL,
  id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  test INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  items INTEGER NOT NULL,
  first_started_at INTEGER NOT NULL,
  first_run_id INTEGER NOT NULL,
  first_run_attempt INTEGER NOT NULL,
  first_workflow TEXT NOT NULL,
  first_verdict INTEGER NOT NULL,
  first_ci_run_id INTEGER NOT NULL,
  last_started_at INTEGER NOT NULL,
  place_at INTEGER NOT NULL,
  place_way INTEGER NOT NULL,
  place_position INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  next_way INTEGER NOT NULL,
  next_position INTEGER NOT NULL,
  next_pass TEXT NOT NULL,
  UNIQUE (org_id, id)
) STRICT;
CREATE INDEX failure_at ON failure (org_id, product_id, box_key, sha, branch);
CREATE INDEX failure_fix
  ON failure (org_id, product_id, box_key, branch, test, next_at, next_way, next_position,
              next_pass);
CREATE INDEX failure_next
  ON failure (org_id, product_id, box_key, next_pass) WHERE next_pass <> '';
