-- SPDX-License-Identifier: Apache-2.0
-- Link the entries of the audit log, and refuse to change or remove one.

ALTER TABLE audit_entry ADD COLUMN link BLOB;
ALTER TABLE audit_entry ADD COLUMN seal BLOB;

CREATE TABLE audit_head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seal BLOB
) STRICT;

INSERT INTO audit_head (one) VALUES (1);
