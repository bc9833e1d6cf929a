-- SPDX-License-Identifier: Apache-2.0
-- Add boxes, invitations, identities, live runs and events; name the run record of reports.

-- `record_id` of a report: the run record that it belongs to; parts of one report share it.
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
