# SPDX-License-Identifier: Apache-2.0
"""Whether anything of an organization names a repository, product, box, test or commit that is
asked for.

An unknown name is 404: an empty answer would look like good news, such as no failure. Two cases
let any name pass: an organization that has no reports yet, and a key that is bound to products, as
whoever made the key named them, and its holder is told no other name.
"""

from collections.abc import Collection
from typing import NoReturn

from hwci.analysis.outcomes import RecordedRuns
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.said import counted, day, short
from hwci.server.errors import NotFoundError
from hwci.server.services.access import Viewer, is_bound, require_product
from hwci.server.storage.ports import Reader
from hwci.wire.nearest import hint
from hwci.wire.queries import BoxQuery, ProductQuery, Query

_NAMED = 5
_NO_SUITE = "only merges that were announced without a suite are known there; leave the suite out"


def known_scope(reader: Reader, viewer: Viewer, query: ProductQuery) -> Scope:
    """Return what a query is about. Raises `HwciServerError`: not for this viewer, or unknown."""
    require_product(viewer, query.repo_key, query.suite)
    require_known_product(reader, viewer, query.repo_key, query.suite)
    require_known_box(reader, viewer, _box_of(query))
    return Scope(query.repo_key, query.suite)


def _box_of(query: Query) -> str | None:
    return query.box_key if isinstance(query, BoxQuery) else None


def require_known_product(
    reader: Reader, viewer: Viewer, repo_key: str | None, suite: str | None
) -> None:
    """Raise `NotFoundError` if nothing names this repository, or this suite of it."""
    if (repo_key is None and suite is None) or is_bound(viewer):
        return
    seen: set[tuple[str, str | None]] = set()
    for product in reader.repositories(viewer.org_id):
        if Scope(repo_key, suite).holds(*product):
            return
        seen.add(product)
    if not seen:
        return
    repositories = {repo for repo, _ in seen}
    if repo_key is not None and repo_key not in repositories:
        _refuse(f"repository {repo_key!r}", repo_key, repositories)
    suites = {suite for repo, suite in seen if suite is not None and repo_key in {None, repo}}
    where = f" in {repo_key}" if repo_key else ""
    _refuse(f"product {suite!r}{where}", suite, suites, _NO_SUITE)


def require_known_box(reader: Reader, viewer: Viewer, name: str | None) -> None:
    """Raise `NotFoundError` if nothing names this box."""
    if name is None or is_bound(viewer):
        return
    seen: set[str] = set()
    for box in reader.box_names(viewer.org_id):
        if box == name:
            return
        seen.add(box)
    if seen:
        _refuse(f"box {name!r}", name, seen)


def require_known_test(history: RecordedRuns, product: Product, test_id: str) -> None:
    """Raise `NotFoundError` if no report of a product ever named this test."""
    names = history.test_names(product)
    if test_id not in names:
        _refuse(f"test {test_id!r} of {product.suite} in {product.repo_key}", test_id, names)


def known_commit(history: RecordedRuns, scope: Scope, period: Period, sha: str) -> str:
    """Return the commit that begins so. Raises `NotFoundError`: none of those with a run in the
    period does, or several do.
    """
    ran = {run.sha for product in history.outcomes(scope, period) for run in product.runs}
    shas = sorted(commit for commit in ran if commit.startswith(sha))
    if sha in ran or len(shas) == 1:
        return sha if sha in ran else shas[0]
    if shas:
        raise NotFoundError(f"{len(shas)} commits begin with {sha}: {', '.join(shas[:_NAMED])}")
    raise NotFoundError(
        f"No run of the last {counted(period.days, 'day')} to {day(period.end)} is of a commit"
        f" {sha} of {scope.repo_key}{_elsewhere(history, scope, sha)}"
    )


def _elsewhere(history: RecordedRuns, scope: Scope, sha: str) -> str:
    """Say where else runs have a commit: at another time, or in the push of another one."""
    runs = [
        run
        for run in sorted(history.sighted_runs(scope.repo_key or "", sha))
        if scope.holds(scope.repo_key or "", run.sighting.suite)
    ]
    if not runs:
        return ""
    own = [run for run in runs if run.sha == sha]
    if own:
        return f"; its last run began on {day(own[-1].started_at)}"
    return f"; it was tested with {short(runs[0].sha)}: ask for that one"


def _refuse(what: str, name: str | None, known: Collection[str], none: str = "") -> NoReturn:
    unknown = f"Nothing that was reported to this organization names the {what}"
    help_ = hint(name or "", sorted(known)) if known else none
    raise NotFoundError("; ".join(filter(None, (unknown, help_))))
