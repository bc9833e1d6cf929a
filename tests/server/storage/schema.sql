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
, disabled_at INTEGER, reset_digest BLOB, reset_expires_at INTEGER, proved INTEGER NOT NULL DEFAULT 0, notice TEXT) STRICT;

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
, client TEXT) STRICT;

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
, link BLOB, seal BLOB) STRICT;

CREATE INDEX audit_entry_at ON audit_entry (org_id, at);

CREATE TABLE history_version (
  org_id BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
, state BLOB) STRICT, WITHOUT ROWID;

CREATE TABLE announcement (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  merged_at INTEGER NOT NULL, digest BLOB, ci_url TEXT, arrived_at INTEGER, checks INTEGER NOT NULL DEFAULT 0,
  UNIQUE (org_id, repo_key, suite, sha)
) STRICT;

CREATE TABLE suite_config (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL, digest BLOB, version INTEGER NOT NULL DEFAULT 0,
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
  at INTEGER NOT NULL, digest BLOB, note TEXT, issue TEXT,
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
  tests BLOB NOT NULL, set_id INTEGER,
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
  ci_run_id INTEGER NOT NULL, record_id BLOB, digest BLOB, ci_url TEXT, ci_run INTEGER, arrived_at INTEGER, rerun_of INTEGER,
  UNIQUE (org_id, repo_key, run_id, run_attempt, box_key)
) STRICT;

CREATE INDEX report_time
  ON report (org_id, product_id, started_at, hello_ok, part, box_key, template_id);

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
  failure_id BLOB, message TEXT,
  PRIMARY KEY (org_id, report_id, test)
) STRICT, WITHOUT ROWID;

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

CREATE INDEX report_record ON report (org_id, record_id, part);

CREATE INDEX refresh_token_session ON refresh_token (session_id);

CREATE TABLE identity (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id BLOB NOT NULL REFERENCES user (id),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE invite (
  digest BLOB NOT NULL PRIMARY KEY,
  org_id BLOB REFERENCES organization (id),
  email_key TEXT,
  role TEXT,
  inviter_id BLOB REFERENCES user (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
, id BLOB) STRICT;

CREATE INDEX invite_email ON invite (email_key) WHERE used_at IS NULL;

CREATE TABLE box (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  install_digest BLOB UNIQUE,
  install_expires_at INTEGER,
  key_digest BLOB UNIQUE,
  last_seen_at INTEGER,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, name)
) STRICT;

CREATE TABLE live_test (
  org_id BLOB NOT NULL,
  run_id BLOB NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  outcome INTEGER,
  attempts INTEGER,
  PRIMARY KEY (org_id, run_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  org_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  run_id BLOB NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (org_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_run ON event (org_id, run_id, number);

CREATE INDEX refresh_token_expiry ON refresh_token (expires_at);

CREATE INDEX invite_end ON invite (coalesce(used_at, expires_at));

CREATE UNIQUE INDEX invite_id ON invite (id);

CREATE INDEX invite_organization ON invite (org_id) WHERE used_at IS NULL;

CREATE INDEX identity_user ON identity (user_id);

CREATE UNIQUE INDEX user_reset ON user (reset_digest) WHERE reset_digest IS NOT NULL;

CREATE TABLE audit_head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seal BLOB
) STRICT;

CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON audit_entry BEGIN SELECT RAISE(ABORT, 'the audit log is only ever appended to'); END;

CREATE TRIGGER audit_entry_is_kept BEFORE DELETE ON audit_entry BEGIN SELECT RAISE(ABORT, 'the audit log is only ever appended to'); END;

CREATE TRIGGER audit_entry_follows BEFORE INSERT ON audit_entry WHEN NEW.number <= (SELECT coalesce(max(number), 0) FROM audit_entry) BEGIN SELECT RAISE(ABORT, 'the audit log is only ever appended to'); END;

CREATE TABLE reader_key (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  name TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER,
  products TEXT NOT NULL,
  PRIMARY KEY (org_id, id)
) STRICT;

CREATE INDEX report_ci_run ON report (org_id, coalesce(ci_run, ci_run_id));

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
  passed INTEGER NOT NULL, reviewed INTEGER NOT NULL DEFAULT 0, first_ci_run INTEGER,
  UNIQUE (org_id, id)
) STRICT;

CREATE INDEX failure_at ON failure (org_id, sha, branch, product_id, box_key);

CREATE INDEX failure_lane
  ON failure (org_id, product_id, box_key, branch, test, rank, passed);

CREATE TABLE underived (org_id BLOB NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;

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
, reviewed INTEGER NOT NULL DEFAULT 0, run_id INTEGER NOT NULL DEFAULT 0, run_attempt INTEGER NOT NULL DEFAULT 0, workflow TEXT NOT NULL DEFAULT '', ci_run_id INTEGER NOT NULL DEFAULT 0, ci_run INTEGER) STRICT;

CREATE INDEX episode_fix
  ON episode (org_id, product_id, box_key, branch, test, fix_rank, first_rank);

CREATE INDEX episode_lane
  ON episode (org_id, product_id, box_key, branch, test, flake, first_rank);

CREATE TABLE walk_commit (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  last_sha TEXT NOT NULL,
  fix_sha TEXT NOT NULL,
  sha TEXT NOT NULL,
  PRIMARY KEY (org_id, repo_key, last_sha, fix_sha, sha)
) STRICT, WITHOUT ROWID;

CREATE INDEX walk_commit_sha ON walk_commit (org_id, repo_key, sha);

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

CREATE INDEX report_commit ON report (org_id, sha, product_id, box_key, hello_ok);

CREATE INDEX failure_reviewed
  ON failure (org_id, product_id, box_key, branch, test, rank) WHERE reviewed = 1;

CREATE TABLE box_note (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  box_key TEXT NOT NULL,
  at INTEGER NOT NULL,
  text TEXT NOT NULL,
  by_id BLOB NOT NULL,
  by_name TEXT NOT NULL,
  PRIMARY KEY (org_id, id)
) STRICT;

CREATE INDEX box_note_at ON box_note (org_id, at);

CREATE TABLE day_result (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  results TEXT NOT NULL,
  flakes INTEGER NOT NULL,
  PRIMARY KEY (org_id, product_id, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX episode_walk ON episode (org_id, last_sha, fix_sha) WHERE decision IS NOT NULL;

CREATE INDEX report_started ON report (org_id, started_at, record_id DESC);

CREATE INDEX report_box ON report (org_id, box_key, started_at, record_id DESC);

CREATE INDEX report_branch ON report (org_id, branch, started_at, record_id DESC, box_key);

CREATE INDEX episode_time ON episode (org_id, product_id, started_at, fix_rank, reviewed);

CREATE INDEX episode_settled ON episode
  (org_id, product_id, decided_by, decision, started_at, first_id, fix_rank, reviewed)
  WHERE fix_rank < 9223372036854775807 AND reviewed = 0 AND decision IS NOT NULL;

CREATE INDEX announcement_time ON announcement (org_id, merged_at, repo_key, suite);

CREATE INDEX announcement_unchecked ON announcement (org_id, merged_at, repo_key, suite)
  WHERE checks = 0;

CREATE TABLE usage (
  org_id BLOB NOT NULL PRIMARY KEY REFERENCES organization (id),
  hour INTEGER NOT NULL,
  hour_bytes INTEGER NOT NULL,
  all_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
