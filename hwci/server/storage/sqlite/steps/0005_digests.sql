-- SPDX-License-Identifier: Apache-2.0
-- Add a digest to what CI and people sent. Earlier rows have none: NULL.

ALTER TABLE announcement ADD COLUMN digest BLOB;
ALTER TABLE report ADD COLUMN digest BLOB;
ALTER TABLE suite_config ADD COLUMN digest BLOB;
ALTER TABLE review ADD COLUMN digest BLOB;
