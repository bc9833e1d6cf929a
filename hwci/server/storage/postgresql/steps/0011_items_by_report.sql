-- SPDX-License-Identifier: Apache-2.0
-- Find the items of a period by its reports.

-- `report_time` finds the reports of a period, and the key of `item` the items of each.
DROP INDEX item_time;
DROP INDEX item_failing;
