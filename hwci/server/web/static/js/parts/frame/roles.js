// SPDX-License-Identifier: Apache-2.0
// What the reader's role lets them do (contract, "Organizations"). The server decides; a page only leaves
// out what it would refuse.

const ADMINS = new Set(["owner", "admin"]);

/** Whether the reader may review failures, add boxes and see the audit log. */
export function isAdmin(organization) {
  return ADMINS.has(organization?.role);
}
