// SPDX-License-Identifier: Apache-2.0
// Where the scale of a chart of shares ends. Pure functions.

const ENDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

/** The lowest round share that no part of a whole is above, between 0 and 1: of small ones, 1 % is seen too. */
export function endOf(shares) {
  const most = Math.max(0, ...shares.filter((one) => one?.total > 0).map(({ part, total }) => part / total));
  return ENDS.find((end) => most <= end);
}
