-- SPDX-License-Identifier: Apache-2.0
-- Count the bytes that each organization sends, as SQLite's step says.

CREATE TABLE usage (
  org_id BYTEA NOT NULL PRIMARY KEY REFERENCES organization (id),
  hour BIGINT NOT NULL,
  hour_bytes BIGINT NOT NULL,
  all_bytes BIGINT NOT NULL
);
