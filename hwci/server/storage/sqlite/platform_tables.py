# SPDX-License-Identifier: Apache-2.0
"""Tables of the platform: identities, invitations, boxes, live runs and events, and what a report
needs to be found as a run record. `migrations.py` has their order.
"""

# `record_id` of a report: the run record that it belongs to; parts of one report share it.
PLATFORM = """
ALTER TABLE report ADD COLUMN record_id BLOB;
CREATE INDEX report_record ON report (org_id, record_id, part);
CREATE INDEX report_started ON report (org_id, started_at DESC, record_id);
CREATE INDEX report_box ON report (org_id, box_key, started_at DESC, record_id);

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
) STRICT;
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

CREATE TABLE live_run (
  org_id BLOB NOT NULL,
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
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, box_id) REFERENCES box (org_id, id)
) STRICT;
CREATE INDEX live_run_box ON live_run (org_id, box_id);
CREATE INDEX live_run_heard ON live_run (heard_at) WHERE lost = 0;

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
CREATE INDEX event_at ON event (at);
"""

# Indexes that find old rows without reading the rest.
RETENTION = """
CREATE INDEX refresh_token_expiry ON refresh_token (expires_at);
CREATE INDEX invite_end ON invite (coalesce(used_at, expires_at));
CREATE INDEX live_run_lost ON live_run (heard_at) WHERE lost = 1;
"""

# An invitation has an id, by which it is accepted, declined or withdrawn without its token, and is
# found by its organization; a provider's link, by its user.
INVITATIONS = """
ALTER TABLE invite ADD COLUMN id BLOB;
UPDATE invite SET id = randomblob(16);
CREATE UNIQUE INDEX invite_id ON invite (id);
CREATE INDEX invite_organization ON invite (org_id) WHERE used_at IS NULL;
CREATE INDEX identity_user ON identity (user_id);
"""

# Indexes by which the runs of a commit, by its beginning, and those of a branch are found in the
# history of an organization; that of branches ends with the box, so that of runs of other boxes no
# row is read. Live runs need none: there are few, since they end or are deleted.
RUN_FILTERS = """
CREATE INDEX report_sha_start ON report (org_id, sha);
CREATE INDEX report_branch ON report (org_id, branch, started_at DESC, record_id, box_key);
"""

KEPT_LIVE_RUNS = """
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
"""
"""Live runs as they are kept when their box is removed."""

# One index finds the reports of a commit, by its beginning too. Those of a run are found by their
# identity, which begins with the run.
FEWER_INDEXES = """
DROP INDEX report_commit;
DROP INDEX report_sha;
DROP INDEX report_run;
DROP INDEX report_sha_start;
CREATE INDEX report_commit ON report (org_id, sha, product_id, box_key, hello_ok);
"""

# What CI sent and no rule reads any more. `body` is JSON, compressed: the fields of the fact.
REPLACED = """
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
"""
