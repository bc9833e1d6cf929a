-- SPDX-License-Identifier: Apache-2.0
-- Failures that have a review, for pages.

ALTER TABLE failure ADD COLUMN reviewed BIGINT NOT NULL DEFAULT 0;
UPDATE failure SET reviewed = 1
  WHERE (org_id, id) IN (SELECT org_id, failure_id FROM review);
CREATE INDEX failure_reviewed
  ON failure (org_id, product_id, box_key, branch, test, rank) WHERE reviewed = 1;
