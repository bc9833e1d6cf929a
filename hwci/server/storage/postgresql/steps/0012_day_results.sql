-- SPDX-License-Identifier: Apache-2.0
-- Keep the results of a day in one row, as SQLite's step says.

DROP TABLE day_item;

CREATE TABLE day_result (
  org_id BYTEA NOT NULL,
  product_id BIGINT NOT NULL,
  day BIGINT NOT NULL,
  results TEXT COLLATE "C" NOT NULL,
  flakes BIGINT NOT NULL,
  PRIMARY KEY (org_id, product_id, day)
);

INSERT INTO underived SELECT DISTINCT org_id FROM report ON CONFLICT DO NOTHING;
