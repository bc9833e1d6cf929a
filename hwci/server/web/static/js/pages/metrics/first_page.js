// SPDX-License-Identifier: Apache-2.0
// What the page asks for beside its tables (ADR 0082), as the first page of one of them.

/** The first page, which is `of(data)`; null: somebody asks for it, undefined: nobody will. */
export function firstOf({ data, error, loading }, of = (rows) => rows) {
  if (loading) return null;
  return error ? undefined : of(data);
}
