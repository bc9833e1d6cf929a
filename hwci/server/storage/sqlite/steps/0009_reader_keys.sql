-- SPDX-License-Identifier: Apache-2.0
-- Add keys that read.

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
