-- SPDX-License-Identifier: Apache-2.0
-- Mark the failures that have a review.

-- `reviewed`: a review is stored at the failure. Pages find those of an episode by the index.
ALTER TABLE failure ADD COLUMN reviewed INTEGER NOT NULL DEFAULT 0;
UPDATE failure SET reviewed = 1
  WHERE (org_id, id) IN (SELECT org_id, failure_id FROM review);
CREATE INDEX failure_reviewed
  ON failure (org_id, product_id, box_key, branch, test, rank) WHERE reviewed = 1;
