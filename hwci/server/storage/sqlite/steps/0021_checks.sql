-- SPDX-License-Identifier: Apache-2.0
-- Count the reports that check a merge.

-- `checks`: how many reports that reached the hardware with a test hold the commit, of the product if
-- one is announced.
ALTER TABLE announcement ADD COLUMN checks INTEGER NOT NULL DEFAULT 0;
UPDATE announcement SET checks = (SELECT count(DISTINCT r.id) FROM mention m
  JOIN report r ON r.org_id = m.org_id AND r.id = m.report_id
  JOIN product p ON p.org_id = r.org_id AND p.id = r.product_id
  WHERE m.org_id = announcement.org_id AND m.repo_key = announcement.repo_key
  AND m.sha = announcement.sha AND m.tested = 1 AND r.hello_ok = 1 AND r.tests > 0
  AND announcement.suite IN ('', p.suite));
