-- SPDX-License-Identifier: Apache-2.0
-- Name the state of each history.

-- `state`: a name that no other state has, of this database or any copy of it: drawn by each write that
-- raises the version. NULL: there was none since this step.
ALTER TABLE history_version ADD COLUMN state BLOB;
