-- SPDX-License-Identifier: Apache-2.0
-- Keep the results of a day in one row.

-- `results`: of counted items with a failed attempt five lists as JSON, with a place for each test, in
-- the order of their numbers: the test, items, their attempts, those that failed, those of flakes.
-- `flakes`: the sum of the last list.
DROP TABLE day_item;
CREATE TABLE day_result (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  results TEXT NOT NULL,
  flakes INTEGER NOT NULL,
  PRIMARY KEY (org_id, product_id, day)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO underived SELECT DISTINCT org_id FROM report;
