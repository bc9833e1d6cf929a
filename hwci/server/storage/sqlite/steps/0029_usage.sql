-- SPDX-License-Identifier: Apache-2.0
-- Count the bytes that each organization sends (docs/adr/0110-an-organization-has-a-quota.md).

-- `hour`: hours since 1970 in which `hour_bytes` came. `all_bytes`: all that was counted since this step.
CREATE TABLE usage (
  org_id BLOB NOT NULL PRIMARY KEY REFERENCES organization (id),
  hour INTEGER NOT NULL,
  hour_bytes INTEGER NOT NULL,
  all_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
