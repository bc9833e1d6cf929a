-- SPDX-License-Identifier: Apache-2.0
-- The tables of a database in a SQLite file. A file that is older is brought here by the steps of
-- `schema.py`: a change of this file is a step there, and the same in PostgreSQL's schema.
--
-- Every table of a tenant, and every index that finds its rows, begins with org_id. Times are
-- microseconds since 1970 in UTC. Records refer to each other by number without foreign keys:
-- `ingest.py` alone writes them, and each key would cost an index of its own.


-- People, organizations and their keys

-- `erase_at`: it is deleted, and all of it goes then; NULL: it is not. `keep_…_days` NULL: for ever, or as long as
-- the operator says. `kept_since`: reports that began before it were deleted; NULL: none was.
CREATE TABLE organization (
  id BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  ci_metrics_enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  erase_at INTEGER,
  keep_reports_days INTEGER,
  keep_messages_days INTEGER,
  keep_logs_days INTEGER,
  kept_since INTEGER
) STRICT;

-- After how many days something of an organization goes, and since when that counts.
CREATE TABLE keeping (
  org_id BLOB NOT NULL REFERENCES organization (id),
  kind TEXT NOT NULL,
  days INTEGER NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (org_id, kind)
) STRICT, WITHOUT ROWID;

-- `proved`: the operator made the account, or a provider verified the e-mail. `notice`: told at the next
-- sign-in. A user has at most one link that resets the password.
CREATE TABLE user (
  id BLOB NOT NULL PRIMARY KEY,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER,
  reset_digest BLOB,
  reset_expires_at INTEGER,
  proved INTEGER NOT NULL,
  notice TEXT
) STRICT;
CREATE UNIQUE INDEX user_reset ON user (reset_digest) WHERE reset_digest IS NOT NULL;

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
  ended_at INTEGER,
  client TEXT NOT NULL
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
CREATE INDEX refresh_token_session ON refresh_token (session_id);
CREATE INDEX refresh_token_expiry ON refresh_token (expires_at);

CREATE TABLE identity (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id BLOB NOT NULL REFERENCES user (id),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identity_user ON identity (user_id);

-- `org_id` NULL: the invitation of the first user.
CREATE TABLE invite (
  digest BLOB NOT NULL PRIMARY KEY,
  id BLOB NOT NULL,
  org_id BLOB REFERENCES organization (id),
  email_key TEXT,
  role TEXT,
  inviter_id BLOB REFERENCES user (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX invite_email ON invite (email_key) WHERE used_at IS NULL;
CREATE INDEX invite_end ON invite (coalesce(used_at, expires_at));
CREATE UNIQUE INDEX invite_id ON invite (id);
CREATE INDEX invite_organization ON invite (org_id) WHERE used_at IS NULL;

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

-- `products`: JSON, a list of [repo_key, suite]; empty: all products of the organization.
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

-- Repositories whose CI jobs may sign in. `issuer`: who signs their tokens. `branch` and `environment`: patterns.
CREATE TABLE ci_trust (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  system TEXT NOT NULL,
  issuer TEXT NOT NULL,
  repository TEXT NOT NULL,
  repository_id TEXT,
  owner_id TEXT,
  branch TEXT,
  environment TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  PRIMARY KEY (org_id, id)
) STRICT;
CREATE INDEX ci_trust_issuer ON ci_trust (issuer);

-- Keys of jobs that signed in. `token`: the digest of what was exchanged, once; `kept_until`: when nobody takes it
-- any more.
CREATE TABLE job_key (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  trust_id BLOB NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  token BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  kept_until INTEGER NOT NULL,
  PRIMARY KEY (org_id, id)
) STRICT;
CREATE INDEX job_key_end ON job_key (kept_until);

-- `hour`: hours since 1970 in which `hour_bytes` came. `all_bytes`: all that was ever counted.
CREATE TABLE usage (
  org_id BLOB NOT NULL PRIMARY KEY REFERENCES organization (id),
  hour INTEGER NOT NULL,
  hour_bytes INTEGER NOT NULL,
  all_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;


-- The audit log

-- `link`: a digest of the entry and of the link before. People stand here by their ids alone.
-- Entries outlast their organization.
CREATE TABLE audit_entry (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  id BLOB NOT NULL,
  at INTEGER NOT NULL,
  actor_id BLOB NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT NOT NULL,
  link BLOB NOT NULL
) STRICT;
CREATE INDEX audit_entry_at ON audit_entry (org_id, at);

-- What guards the log from mistakes: a program that may write the file may drop these, and the chain
-- shows tampering. A row that replaces another is not a deletion to a trigger, hence the third.
CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON audit_entry
BEGIN
  SELECT RAISE(ABORT, 'the audit log is only ever appended to');
END;
CREATE TRIGGER audit_entry_is_kept BEFORE DELETE ON audit_entry
BEGIN
  SELECT RAISE(ABORT, 'the audit log is only ever appended to');
END;
CREATE TRIGGER audit_entry_follows BEFORE INSERT ON audit_entry
  WHEN NEW.number <= (SELECT coalesce(max(number), 0) FROM audit_entry)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is only ever appended to');
END;


-- What CI and people sent, kept whole

-- `version` numbers the states of a history: what was read of one number stays true. `state`: a name that no
-- other state has, of this database or any copy of it.
CREATE TABLE history_version (
  org_id BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  state BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- `suite` is '' when omitted: to a unique index no NULL equals another. `checks`: how many reports that
-- reached the hardware with a test hold the commit, of the product if one is announced.
CREATE TABLE announcement (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  merged_at INTEGER NOT NULL,
  digest BLOB NOT NULL,
  ci_url TEXT,
  arrived_at INTEGER NOT NULL,
  checks INTEGER NOT NULL,
  UNIQUE (org_id, repo_key, suite, sha)
) STRICT;
CREATE INDEX announcement_time ON announcement (org_id, merged_at, repo_key, suite);
-- Merges that no report checks.
CREATE INDEX announcement_unchecked ON announcement (org_id, merged_at, repo_key, suite)
  WHERE checks = 0;

-- `version`: that of the history when it was set.
CREATE TABLE suite_config (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  digest BLOB NOT NULL,
  version INTEGER NOT NULL,
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
  digest BLOB NOT NULL,
  note TEXT,
  issue TEXT,
  PRIMARY KEY (org_id, failure_id)
) STRICT;

CREATE TABLE product (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  UNIQUE (org_id, repo_key, suite)
) STRICT;

-- A test's `number` counts within its product, so that a set of tests is a small bit mask.
CREATE TABLE test (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (org_id, product_id, number),
  UNIQUE (org_id, product_id, name)
) STRICT;

-- A list of tests. `set_id`: the list of the same tests in the order of their numbers; NULL only within a
-- write.
CREATE TABLE template (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  digest BLOB NOT NULL,
  tests BLOB NOT NULL,
  set_id INTEGER,
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

-- `record_id`: the run record that it belongs to; parts of one report share it. `boards` and `log_urls` have a
-- text for each item, if any has one. Derived: `ci_run_id`,
-- `record_id`, `tests` (how many), `fails` (the mask of failing tests) and `carried` (whether it speaks
-- for its changes).
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
  record_id BLOB NOT NULL,
  digest BLOB NOT NULL,
  ci_url TEXT,
  ci_run INTEGER,
  arrived_at INTEGER NOT NULL,
  rerun_of INTEGER,
  boards BLOB,
  log_urls BLOB,
  UNIQUE (org_id, repo_key, run_id, run_attempt, box_key)
) STRICT;
-- Finds the reports of a period, and the key of `item` the items of each.
CREATE INDEX report_time
  ON report (org_id, product_id, started_at, hello_ok, part, box_key, template_id);
CREATE INDEX report_part
  ON report (org_id, repo_key, part_run_id, run_attempt, box_key) WHERE part_run_id IS NOT NULL;
CREATE INDEX report_record ON report (org_id, record_id, part);
CREATE INDEX report_ci_run ON report (org_id, coalesce(ci_run, ci_run_id));
-- Finds the reports of a commit, by its beginning too, and of a failure. Those of a run are found by their
-- identity, which begins with the run.
CREATE INDEX report_commit ON report (org_id, sha, product_id, box_key, hello_ok);
-- Reports come in the order of their start, and are read from the last one back: so they are added at the
-- end of an index, which fills its pages, and not before all others, which splits them.
CREATE INDEX report_started ON report (org_id, started_at, record_id DESC);
CREATE INDEX report_box ON report (org_id, box_key, started_at, record_id DESC);
CREATE INDEX report_branch ON report (org_id, branch, started_at, record_id DESC, box_key);
-- Find what goes after its days.
CREATE INDEX report_logs ON report (org_id, started_at) WHERE log_urls IS NOT NULL;

-- An item that is not a pass at the first attempt without verdict. Derived: `product_id`, `started_at` and
-- `counted` (the report's product, start and `hello_ok`), and `failure_id`.
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
  message TEXT,
  PRIMARY KEY (org_id, report_id, test)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_message ON item (org_id, started_at) WHERE message IS NOT NULL;

-- What CI sent and something later took the place of: no rule reads it any more. `body` is JSON, compressed:
-- the fields of the fact.
CREATE TABLE replaced (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  kind TEXT NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  arrived_at INTEGER NOT NULL,
  replaced_at INTEGER NOT NULL,
  body BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;
CREATE INDEX replaced_time ON replaced (org_id, replaced_at);
CREATE INDEX replaced_arrival ON replaced (org_id, arrived_at) WHERE kind <> 'configuration';

-- `box_key`: the name in reports, which need not be that of a box somebody created.
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

-- `test_id`, `message`, `box_key` NULL: any.
CREATE TABLE known_failure (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  test_id TEXT,
  message TEXT,
  box_key TEXT,
  ticket TEXT NOT NULL,
  until INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  by_id BLOB NOT NULL,
  by_name TEXT NOT NULL,
  PRIMARY KEY (org_id, id)
) STRICT;


-- What is derived from reports: `derive.py` keeps it up to date, and can compute it again

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

-- `rank` numbers the commits of a branch in the order of their places; NULL only within a write.
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

-- `reviewed`: a review of it is kept. `first_…`: its first failing run; `first_ci_run`: the number that the CI
-- shows of that, where it is another.
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
  reviewed INTEGER NOT NULL,
  first_ci_run INTEGER,
  UNIQUE (org_id, id)
) STRICT;
CREATE INDEX failure_at ON failure (org_id, sha, branch, product_id, box_key);
CREATE INDEX failure_lane
  ON failure (org_id, product_id, box_key, branch, test, rank, passed);
CREATE INDEX failure_reviewed
  ON failure (org_id, product_id, box_key, branch, test, rank) WHERE reviewed = 1;

-- What counts as one failure. `fix_sha` '' and a `fix_rank` beyond all ranks: no later commit passed.
-- `reviewed`: how many of its failures have a review. `decision`: NULL if nobody asked yet, or a report may
-- have changed it since. `decided_by`: the versions of the rules and the configuration. The others after
-- `first_id`: its first failing run.
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
  decided_by TEXT,
  reviewed INTEGER NOT NULL,
  run_id INTEGER NOT NULL,
  run_attempt INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  ci_run_id INTEGER NOT NULL,
  ci_run INTEGER
) STRICT;
CREATE INDEX episode_fix
  ON episode (org_id, product_id, box_key, branch, test, fix_rank, first_rank);
CREATE INDEX episode_lane
  ON episode (org_id, product_id, box_key, branch, test, flake, first_rank);
CREATE INDEX episode_walk ON episode (org_id, last_sha, fix_sha) WHERE decision IS NOT NULL;
CREATE INDEX episode_time ON episode (org_id, product_id, started_at, fix_rank, reviewed);
-- A page counts the decided episodes of each class, and finds the newest of them, in an index alone.
CREATE INDEX episode_settled ON episode
  (org_id, product_id, decided_by, decision, started_at, first_id, fix_rank, reviewed)
  WHERE fix_rank < 9223372036854775807 AND reviewed = 0 AND decision IS NOT NULL;

-- The commits that the decision on a fix rests on.
CREATE TABLE walk_commit (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  last_sha TEXT NOT NULL,
  fix_sha TEXT NOT NULL,
  sha TEXT NOT NULL,
  PRIMARY KEY (org_id, repo_key, last_sha, fix_sha, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX walk_commit_sha ON walk_commit (org_id, repo_key, sha);

-- Sums over days in UTC; day 0 is 1970-01-01: of reports with the same box and set of tests, those that
-- reached the hardware; of first parts, all and those that did not.
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

-- `results`: of counted items with a failed attempt five lists as JSON, with a place for each test, in the
-- order of their numbers: the test, items, their attempts, those that failed, those of flakes. `flakes`: the
-- sum of the last list. A period is counted from its whole days; at its two ends from `report` and `item`.
CREATE TABLE day_result (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  results TEXT NOT NULL,
  flakes INTEGER NOT NULL,
  PRIMARY KEY (org_id, product_id, day)
) STRICT, WITHOUT ROWID;

-- Organizations whose derived rows a step leaves to be computed from their reports: it inserts them here, and
-- they are done before the database is used.
CREATE TABLE underived (
  org_id BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;


-- Boxes, live runs and the events of runs

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

CREATE TABLE live_test (
  org_id BLOB NOT NULL,
  run_id BLOB NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  outcome INTEGER,
  attempts INTEGER,
  PRIMARY KEY (org_id, run_id, name)
) STRICT, WITHOUT ROWID;

-- The oldest event of an organization has its smallest number.
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


-- Webhooks, and the events on their way to them

-- `sealed`: address and secret, encrypted by the servers' key. `events`: JSON, a list. `repo_key` and `suite`
-- NULL: of all products.
CREATE TABLE webhook (
  org_id BLOB NOT NULL REFERENCES organization (id),
  id BLOB NOT NULL,
  host TEXT NOT NULL,
  sealed BLOB NOT NULL,
  form TEXT NOT NULL,
  events TEXT NOT NULL,
  repo_key TEXT,
  suite TEXT,
  unchecked_hours INTEGER NOT NULL,
  silent_hours INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, id)
) STRICT;

-- Filled in the transaction of the event. `number`: the order of events. `due_at`: when it is sent next; NULL:
-- it is delivered, or given up.
CREATE TABLE delivery (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  webhook_id BLOB NOT NULL,
  id BLOB NOT NULL,
  event TEXT NOT NULL,
  about TEXT NOT NULL,
  at INTEGER NOT NULL,
  data TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due_at INTEGER,
  error TEXT,
  UNIQUE (org_id, webhook_id, id)
) STRICT;
CREATE INDEX delivery_list ON delivery (org_id, webhook_id, number);
CREATE INDEX delivery_due ON delivery (org_id, webhook_id, due_at, number) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_about ON delivery (org_id, webhook_id, about, number)
  WHERE due_at IS NOT NULL;
CREATE INDEX delivery_old ON delivery (at) WHERE due_at IS NULL;

-- What a webhook was told of and is not over, so that it is told once, and of the end. `event`: what it was
-- told. `name`: of a box, or the id of an incident.
CREATE TABLE ongoing (
  org_id BLOB NOT NULL,
  webhook_id BLOB NOT NULL,
  event TEXT NOT NULL,
  name TEXT NOT NULL,
  since INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (org_id, webhook_id, event, name)
) STRICT, WITHOUT ROWID;
