-- SPDX-License-Identifier: Apache-2.0
-- Keep sums over days.

-- Sums over days in UTC; day 0 is 1970-01-01. `day_run`: of reports with the same box and set of
-- tests, those that reached the hardware; of first parts, all and those that did not. `day_item`: of
-- counted items with a failed attempt, all and those of flakes. `set_id` of a test list: the list of
-- the same tests in the order of their numbers.
ALTER TABLE template ADD COLUMN set_id INTEGER;
CREATE TABLE day_run (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  template_id INTEGER NOT NULL,
  reports INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  infra INTEGER NOT NULL,
  PRIMARY KEY (org_id, product_id, day, box_key, template_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE day_item (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  test INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  items INTEGER NOT NULL,
  flakes INTEGER NOT NULL,
  PRIMARY KEY (org_id, product_id, day, test, outcome, attempts)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO underived SELECT DISTINCT org_id FROM report;
