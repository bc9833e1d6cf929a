-- SPDX-License-Identifier: Apache-2.0
-- Notes of what people did to a box.

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
