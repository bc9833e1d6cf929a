# SPDX-License-Identifier: Apache-2.0
"""Tables of accounts: people, organizations, sign-ins, keys and the audit log, and later
additions to them. `migrations.py` has their order.
"""

ACCOUNTS = """
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
"""

# A user has at most one reset link, hence a column; it is found by its digest.
SESSIONS = """
ALTER TABLE session ADD COLUMN client TEXT;
ALTER TABLE user ADD COLUMN disabled_at INTEGER;
ALTER TABLE user ADD COLUMN reset_digest BLOB;
ALTER TABLE user ADD COLUMN reset_expires_at INTEGER;
CREATE UNIQUE INDEX user_reset ON user (reset_digest) WHERE reset_digest IS NOT NULL;
"""

# `products`: JSON, a list of [repo_key, suite]; empty: all products of the organization.
READER_KEYS = """
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
"""
