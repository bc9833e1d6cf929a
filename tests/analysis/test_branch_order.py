# SPDX-License-Identifier: Apache-2.0
"""The commits of a branch in order, with those that only runs of another product listed."""

from hwci.analysis.flaky.branch_order import branch_order
from hwci.engine.facts import Product
from tests.engine.timeline import MAIN, ORG, REPO, SUITE, Past, changes, report
from tests.support.outcomes import FullRecordedRuns


def order(*reports: str) -> str:
    """Return the commits of the product after these runs: `sha<base:listed`, `*` of another."""
    sent, tested = [], set()
    for at, run in enumerate(reports):
        sha, _, listed = run.lstrip("*").partition("<")
        base, _, commits = listed.partition(":")
        is_other = run.startswith("*")
        suite = "other" if is_other else SUITE
        sent.append(report(f"{sha}:P", at, suite=suite, sent=changes(base or None, *commits)))
        tested |= set() if is_other else {sha}
    history = FullRecordedRuns(ORG, Past(sent).facts)
    found = branch_order(history, Product(REPO, SUITE), MAIN, tested)
    assert found is not None
    return "".join(one.sha for one in found)


def test_commits_that_did_not_run_stand_before_the_run_that_lists_them() -> None:
    assert order("a<:a", "d<a:bcd") == "abcd"


def test_a_list_of_another_product_that_begins_later_is_followed_back() -> None:
    assert order("a<:a", "*c<a:bc", "*e<c:de", "e<a:bcde") == "abcde"
    assert order("a<:a", "*c<a:bc", "*f<c:def", "e<a:bcde", "g<e:fg") == "abcdefg"


def test_lists_that_lead_to_no_commit_that_ran_add_none() -> None:
    assert order("a<:a", "*d<x:cd", "e<d:e") == "ae"
