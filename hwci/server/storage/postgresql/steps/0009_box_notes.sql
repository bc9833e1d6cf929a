-- SPDX-License-Identifier: Apache-2.0
-- Notes of what people did to a box.

-- `box_key`: the name in reports, which need not be that of a box somebody created.
CREATE TABLE box_note (
  org_id BYTEA NOT NULL REFERENCES organization (id),
  id BYTEA NOT NULL,
  box_key TEXT COLLATE "C" NOT NULL,
  at BIGINT NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  by_id BYTEA NOT NULL,
  by_name TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX box_note_at ON box_note (org_id, at);
