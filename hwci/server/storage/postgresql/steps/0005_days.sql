-- SPDX-License-Identifier: Apache-2.0
-- Sums over days, of which tiles and the flakiest tests are made.

ALTER TABLE template ADD COLUMN set_id BIGINT;

CREATE TABLE day_run (
  org_id BYTEA NOT NULL,
  product_id BIGINT NOT NULL,
  day BIGINT NOT NULL,
  box_key TEXT COLLATE "C" NOT NULL,
  template_id BIGINT NOT NULL,
  reports BIGINT NOT NULL,
  runs BIGINT NOT NULL,
  infra BIGINT NOT NULL,
  PRIMARY KEY (org_id, product_id, day, box_key, template_id)
);

CREATE TABLE day_item (
  org_id BYTEA NOT NULL,
  product_id BIGINT NOT NULL,
  day BIGINT NOT NULL,
  test BIGINT NOT NULL,
  outcome BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  items BIGINT NOT NULL,
  flakes BIGINT NOT NULL,
  PRIMARY KEY (org_id, product_id, day, test, outcome, attempts)
);

INSERT INTO underived SELECT DISTINCT org_id FROM report ON CONFLICT DO NOTHING;
