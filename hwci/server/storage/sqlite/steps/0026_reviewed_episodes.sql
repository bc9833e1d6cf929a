-- SPDX-License-Identifier: Apache-2.0
-- Count the reviews of an episode, and let a page count episodes in an index alone.

-- `reviewed`: how many of its failures have a review.
ALTER TABLE episode ADD COLUMN reviewed INTEGER NOT NULL DEFAULT 0;
UPDATE episode SET reviewed = (SELECT count(*) FROM failure f
  WHERE f.org_id = episode.org_id AND f.product_id = episode.product_id
  AND f.box_key = episode.box_key AND f.branch = episode.branch AND f.test = episode.test
  AND f.rank BETWEEN episode.first_rank AND episode.last_rank
  AND f.reviewed = 1 AND f.passed = episode.flake);
DROP INDEX episode_time;
CREATE INDEX episode_time ON episode
  (org_id, product_id, started_at, first_id, fix_rank, reviewed, decided_by, decision);
