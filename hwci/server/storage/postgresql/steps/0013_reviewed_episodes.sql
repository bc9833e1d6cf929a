-- SPDX-License-Identifier: Apache-2.0
-- Count the reviews of an episode, as SQLite's step says.

ALTER TABLE episode ADD COLUMN reviewed BIGINT NOT NULL DEFAULT 0;
UPDATE episode SET reviewed = (SELECT count(*) FROM failure f
  WHERE f.org_id = episode.org_id AND f.product_id = episode.product_id
  AND f.box_key = episode.box_key AND f.branch = episode.branch AND f.test = episode.test
  AND f.rank BETWEEN episode.first_rank AND episode.last_rank
  AND f.reviewed = 1 AND f.passed = episode.flake);
