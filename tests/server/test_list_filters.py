# SPDX-License-Identifier: Apache-2.0
"""Lists of a box, a branch or a commit only: what the server leaves out is what the rows say
(contract, "Lists").
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.client._call import Call
from hwci.client.errors import NotFoundError
from hwci.contract.shape import ListPage
from hwci.wire.accounts import KeyProduct
from tests.support.asking import ask, bearer
from tests.support.running import RunningServer
from tests.support.scene import REPO, START, SUITE, A, B, C, D, merge, play, report

E2, UNRUN = "e2" * 20, "9" * 40
RIG_2: dict[str, Any] = {"box_key": "rig-2"}
SIDE: dict[str, Any] = {"branch": "side"}
PAIR = {"i2c": "fail", "spi": "pass"}
WHERES: list[dict[str, Any]] = [
    {},
    {"box_key": "bench-1"},
    {"box_key": "rig-2"},
    {"branch": "main"},
    {"branch": "side"},
    {"sha": "bbbb"},
    {"sha": C},
    {"sha": "CCCC"},
    {"sha": E2[:4]},
    {"sha": "0123"},
    {"box_key": "rig-2", "branch": "side"},
    {"box_key": "bench-1", "sha": "bbbb"},
]


@pytest.fixture(scope="module")
def person(server: RunningServer) -> Iterator[Client]:
    """The scene on a second box, a second branch and in a second product, too."""
    play(server)
    sent = [
        report(31, B, PAIR).model_copy(update=RIG_2),
        report(32, C, PAIR).model_copy(update=RIG_2),
        report(33, D, {"i2c": "pass", "spi": "pass"}).model_copy(update=RIG_2),
        report(34, E2, {"i2c": "fail", "gpio": "fail"}).model_copy(update={**RIG_2, **SIDE}),
        report(35, E2, {"uart": "pass"}).model_copy(update={"suite": "boot", **SIDE}),
    ]
    with Client(server.url, ci_key=server.ci_key) as ci:
        for body in sent:
            ci.send(calls.report_run(body))
        ci.send(calls.announce_merge(merge(E2).model_copy(update={**SIDE, "suite": None})))
        ci.send(calls.announce_merge(merge(UNRUN).model_copy(update={"repo_key": "acme/new"})))
        unassigned = merge(A).model_copy(update={"repo_key": "acme/newer", "suite": None})
        ci.send(calls.announce_merge(unassigned))
    with Client(server.url, token=server.token) as client:
        yield client


def _of_lane(row: Any) -> tuple[set[str], str, set[str]]:
    return {row.box_key}, row.branch, {row.sha}


def _of_merge(row: Any) -> tuple[set[str], str, set[str]]:
    return set(row.boxes), row.branch, {row.sha}


def _of_unchecked(row: Any) -> tuple[set[str], str, set[str]]:
    boxes = {row.run.box_key, *row.other_boxes} if row.run else set()
    return boxes, row.branch, {row.sha}


def fits(where: dict[str, Any], of: tuple[set[str], str, set[str]]) -> bool:
    """Return whether a row fits, by what it shows."""
    boxes, branch, shas = of
    sha = where.get("sha", "").lower()
    return (
        where.get("box_key") in {None, *boxes}
        and where.get("branch") in {None, branch}
        and any(one.startswith(sha) for one in shas)
    )


LISTS: dict[str, tuple[Callable[..., Call[ListPage[Any]]], Callable[[Any], Any]]] = {
    "failures": (calls.list_failures, _of_lane),
    "merges": (calls.list_merges, _of_merge),
    "unchecked": (calls.explain_unchecked_merges, _of_unchecked),
}


@pytest.mark.parametrize("where", WHERES, ids=str)
@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_the_rows_that_fit_page_by_page(
    server: RunningServer, person: Client, name: str, where: dict[str, Any]
) -> None:
    call, of = LISTS[name]
    whole = list(person.items(call(server.org_id)))
    fitting = [row for row in whole if fits(where, of(row))]
    first = person.send(call(server.org_id, **where, limit=1))

    assert len(whole) > 1
    assert list(person.items(call(server.org_id, **where, limit=2))) == fitting
    assert (first.total, list(first.items)) == (len(fitting), fitting[:1])


def test_an_incident_is_found_by_each_of_its_commits_boxes_and_its_branch(
    server: RunningServer, person: Client
) -> None:
    failed: dict[str, set[str]] = {}
    for row in person.items(calls.list_failures(server.org_id)):
        failed.setdefault(row.sha, set()).add(row.test_id)
    everything = list(person.items(calls.list_incidents(server.org_id)))
    later = [one for one in everything if one.commits > 1]

    assert later, "some incident failed on a second commit"
    for sha, tests in failed.items():
        listed = list(person.items(calls.list_incidents(server.org_id, sha=sha)))
        assert all(tests & set(one.tests) for one in listed)
    found = [one.id for one in person.items(calls.list_incidents(server.org_id, sha=C[:8]))]
    assert later[0].first_commit.sha == B
    assert later[0].id in found
    for box in ("bench-1", "rig-2"):
        listed = list(person.items(calls.list_incidents(server.org_id, box_key=box)))
        assert listed == [one for one in everything if box in one.boxes]
    side = list(person.items(calls.list_incidents(server.org_id, branch="side")))
    assert side == [one for one in everything if one.branch == "side"]
    assert 0 < len(side) < len(everything)


def test_a_merge_is_found_by_the_box_of_each_run_that_checked_it(
    server: RunningServer, person: Client
) -> None:
    for box in ("bench-1", "rig-2"):
        rows = person.send(calls.list_merges(server.org_id, box_key=box)).items
        checked = person.send(calls.checked_merges(server.org_id, box_key=box)).items
        assert B in {row.sha for row in rows}
        assert B in {row.sha for row in checked}
    (of_b,) = person.send(calls.list_merges(server.org_id, sha=B)).items
    assert (of_b.checked, of_b.boxes, of_b.cause) == (True, ("bench-1", "rig-2"), None)
    assert of_b.run is not None
    assert of_b.run.box_key == "bench-1"


def test_all_merges_are_the_checked_and_the_unchecked_ones(
    server: RunningServer, person: Client
) -> None:
    rows = person.send(calls.list_merges(server.org_id)).items
    checked = person.send(calls.checked_merges(server.org_id)).items
    unchecked = person.send(calls.explain_unchecked_merges(server.org_id)).items

    assert [row.sha for row in rows if row.checked] == [row.sha for row in checked]
    assert [(row.sha, row.cause) for row in rows if not row.checked] == [
        (row.sha, row.cause) for row in unchecked
    ]
    assert [row.merged_at for row in rows] == sorted((r.merged_at for r in rows), reverse=True)


@pytest.mark.parametrize("call", [calls.real_bugs, calls.other_failures])
def test_a_resolved_failure_is_found_by_each_commit_on_which_it_failed(
    server: RunningServer, person: Client, call: Callable[..., Call[ListPage[Any]]]
) -> None:
    rows = list(person.items(call(server.org_id)))
    assert rows
    for row in rows:
        for sha in {row.first_failure.sha, row.last_failing_sha}:
            assert row in list(person.items(call(server.org_id, sha=sha[:10])))
        assert row in list(person.items(call(server.org_id, box_key=row.box_key)))
        assert row not in list(person.items(call(server.org_id, branch="side")))
        assert row not in list(person.items(call(server.org_id, sha=A)))


@pytest.mark.parametrize(
    ("where", "tests"),
    [
        ({"box_key": "bench-1"}, "i2c spi adc uart"),
        ({"box_key": "rig-2"}, "i2c spi gpio"),
        ({"branch": "side"}, "i2c gpio uart"),
        ({"sha": E2[:6]}, "i2c gpio uart"),
        ({"sha": E2, "repo_key": REPO, "suite": "boot"}, "uart"),
        ({"box_key": "rig-2", "branch": "main"}, "i2c spi"),
    ],
    ids=str,
)
def test_tests_are_those_that_ran_there(
    server: RunningServer, person: Client, where: dict[str, Any], tests: str
) -> None:
    listed = person.items(calls.list_tests(server.org_id, **where))
    assert {row.test_id for row in listed if row.test_id.isidentifier()} == set(tests.split())


@pytest.mark.parametrize(
    ("where", "boxes"),
    [
        ({}, "bench-1 rig-2"),
        ({"branch": "main"}, "bench-1 rig-2"),
        ({"branch": "side"}, "bench-1 rig-2"),
        ({"branch": "side", "repo_key": REPO, "suite": SUITE}, "rig-2"),
        ({"sha": A}, "bench-1"),
        ({"sha": "bbbb"}, "bench-1 rig-2"),
        ({"box_key": "rig-2"}, "rig-2"),
        ({"repo_key": REPO, "suite": "boot"}, "bench-1"),
        ({"branch": "nope"}, ""),
    ],
    ids=str,
)
def test_boxes_are_those_that_ran_it_whether_created_or_only_reported(
    server: RunningServer, person: Client, where: dict[str, Any], boxes: str
) -> None:
    listed = person.items(calls.list_boxes(server.org_id, **where, reported=True, limit=1))
    assert {row.name for row in listed} == set(boxes.split())
    made = person.send(calls.create_box(server.org_id, "rig-2"))
    try:
        again = person.items(calls.list_boxes(server.org_id, **where, reported=True, limit=1))
        assert {row.name for row in again} == set(boxes.split())
    finally:
        person.send(calls.remove_box(server.org_id, made.id))


def test_a_table_by_box_has_one_of_them(server: RunningServer, person: Client) -> None:
    times = person.send(calls.times_to_fix(server.org_id, **RIG_2)).items

    assert {row.box_key for row in times} == {"rig-2"}


def test_a_plan_has_the_runs_of_a_box_for_the_merges_of_a_branch(
    server: RunningServer, person: Client
) -> None:
    with Client(server.url, ci_key=server.ci_key) as ci:
        ci.send(calls.announce_merge(merge("77" * 20).model_copy(update=SIDE)))
    on_2 = person.send(calls.plan_merges(server.org_id, branch="side", box_key="rig-2"))
    with pytest.raises(NotFoundError, match="names the box 'nobox'"):
        person.send(calls.plan_merges(server.org_id, branch="side", box_key="nobox"))

    assert [(run.sha, run.box_key) for run in on_2.runs.items] == [("77" * 20, "rig-2")]


def test_a_product_or_a_configuration_can_be_asked_for_alone(
    server: RunningServer, person: Client
) -> None:
    product: dict[str, Any] = {"repo_key": REPO, "suite": SUITE}
    (only,) = person.send(calls.list_products(server.org_id, **product)).items
    (config,) = person.send(calls.list_suite_configs(server.org_id, **product)).items
    boot: dict[str, Any] = {"repo_key": REPO, "suite": "boot"}

    assert (only.repo_key, only.suite) == (config.repo_key, config.suite) == (REPO, SUITE)
    assert person.send(calls.list_suite_configs(server.org_id, **boot)).items == ()
    with pytest.raises(NotFoundError, match="did you mean"):
        person.send(calls.list_products(server.org_id, repo_key=REPO, suite="sensor-fv"))


def test_a_repository_that_only_a_merge_names_is_listed_where_it_is_asked_for(
    server: RunningServer, person: Client
) -> None:
    plain = person.send(calls.list_products(server.org_id)).items
    asked = person.send(calls.list_products(server.org_id, unassigned=True)).items
    names = {(row.repo_key, row.suite) for row in asked}

    assert {(row.repo_key, row.suite) for row in plain} < names
    assert ("acme/new", SUITE) in names
    assert {name for name, suite in names if suite is None} == {"acme/newer", REPO}
    some = person.items(calls.list_products(server.org_id, unassigned=True, limit=2))
    assert list(some) == list(asked)


def test_a_bound_key_is_told_of_no_other_product_by_a_filter(
    server: RunningServer, person: Client
) -> None:
    only = [KeyProduct(repo_key=REPO, suite="boot")]
    key = person.send(calls.create_reader_key(server.org_id, "wall", only)).api_key
    boot: dict[str, Any] = {"repo_key": REPO, "suite": "boot"}
    with Client(server.url, reader_key=key) as bound:
        tests = bound.send(calls.list_tests(server.org_id, **boot, branch="side")).items
        products = bound.send(calls.list_products(server.org_id, unassigned=True)).items
        merges = bound.send(calls.list_merges(server.org_id, **boot, box_key="rig-2")).items

    assert [row.test_id for row in tests] == ["uart"]
    assert [(row.repo_key, row.suite) for row in products] == [(REPO, "boot")]
    assert merges == ()


def test_another_organization_sees_none_of_it(server: RunningServer, person: Client) -> None:
    made = person.send(calls.create_org("Other"))
    for call in (calls.list_boxes, calls.list_failures, calls.list_merges, calls.list_tests):
        path = call(made.id, branch="main", **RIG_2).path
        reply = ask(server.url, "GET", f"{path}?branch=main&boxKey=bench-2", bearer(server.token))
        assert reply.status in {200, 403}
        assert reply.status == 403 or reply.json["items"] == []


NAMING_A_BOX: list[Callable[..., Call[Any]]] = [
    *(calls.list_failures, calls.list_incidents, calls.list_merges, calls.list_tests),
    *(calls.list_boxes, calls.list_runs, calls.explain_unchecked_merges, calls.checked_merges),
    *(calls.real_bugs, calls.other_failures, calls.times_to_fix),
]


@pytest.mark.parametrize("call", NAMING_A_BOX)
def test_a_box_that_nothing_names_is_404(
    server: RunningServer, person: Client, call: Callable[..., Call[Any]]
) -> None:
    with pytest.raises(NotFoundError, match="did you mean bench-1"):
        person.send(call(server.org_id, box_key="bench1"))


@pytest.mark.parametrize("sha", ["zzz", "abc", "g" * 8, "a" * 65])
def test_what_cannot_begin_a_commit_is_refused(server: RunningServer, sha: str) -> None:
    for path in ("ci-failures", "boxes", "ci-analysis/tests", "ci-analysis/merges"):
        at = f"/api/orgs/{server.org_id}/{path}?sha={sha}"
        assert ask(server.url, "GET", at, bearer(server.token)).status == 400


def test_the_period_goes_with_the_filters(server: RunningServer, person: Client) -> None:
    before = START - timedelta(days=10)
    listed = person.send(calls.list_failures(server.org_id, as_of=before, branch="main"))
    assert listed.total == 0
