# SPDX-License-Identifier: Apache-2.0
"""The reports of a product, a box, a branch or a commit, as conditions of a statement that reads
`report r`. Which statement that is, and of which organization, is the caller's.
"""

from hwci.engine.history import Scope, Where
from hwci.server.storage.sql.connection import Query


def of_reports(org: bytes, scope: Scope, where: Where) -> Query:
    """Return these conditions, each with an AND before it; none of what is not asked for."""
    bounds = {
        "r.repo_key = ?": scope.repo_key,
        "r.box_key = ?": where.box_key,
        "r.branch = ?": where.branch,
        "r.sha >= ?": where.sha,
        "r.sha < ?": None if where.sha is None else after_all_that_begin(where.sha),
    }
    tests = {test: value for test, value in bounds.items() if value is not None}
    query = Query("".join(f" AND {test}" for test in tests), (*tests.values(),))
    return of_suite(query, org, scope.suite)


def of_suite(query: Query, org: bytes, suite: str | None) -> Query:
    """Return a query of those of its reports that are of a suite; None: of any."""
    if suite is None:
        return query
    products = "SELECT p.id FROM product p WHERE p.org_id = ? AND p.suite = ?"
    return Query(f"{query.statement} AND r.product_id IN ({products})", (*query.values, org, suite))


def after_all_that_begin(sha: str) -> str:
    """Return the first text after all with this prefix: the next letter in place of the last."""
    return sha[:-1] + chr(ord(sha[-1]) + 1)
