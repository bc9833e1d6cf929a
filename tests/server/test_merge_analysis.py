# SPDX-License-Identifier: Apache-2.0
"""Unchecked merges over HTTP: who is shown the run that tells a cause, and the pages of a plan
(contract, "Answers beside the rules").
"""

import pytest

from hwci.client import Client, calls
from hwci.client.errors import ForbiddenError
from hwci.wire.accounts import KeyProduct
from tests.support.running import RunningServer
from tests.support.scene import BOX, REPO, SUITE, UNSEEN, A, merge, play, report

pytestmark = pytest.mark.usefixtures("played")
OF_OTHER = report(20, UNSEEN, {"boot": "pass"}).model_copy(update={"suite": "boot"})


@pytest.fixture
def played(server: RunningServer) -> None:
    """The scene, in which another product ran on the unchecked merge."""
    play(server)
    with Client(server.url, ci_key=server.ci_key) as client:
        client.send(calls.report_run(OF_OTHER))


def test_a_key_of_one_product_is_told_the_cause_and_no_run_of_another(
    server: RunningServer,
) -> None:
    only = [KeyProduct(repo_key=REPO, suite=SUITE)]
    with Client(server.url, token=server.token) as person:
        (whole,) = person.send(calls.explain_unchecked_merges(server.org_id)).items
        key = person.send(calls.create_reader_key(server.org_id, "wall", only)).api_key
    with Client(server.url, reader_key=key) as bound:
        ask = calls.explain_unchecked_merges(server.org_id, repo_key=REPO, suite=SUITE)
        (told,) = bound.send(ask).items
        with pytest.raises(ForbiddenError):
            bound.send(calls.plan_merges(server.org_id))

    assert whole.run is not None
    assert (whole.cause, whole.run.suite, whole.run.run_id) == ("other_product", "boot", 20)
    assert (told.cause, told.run, told.other_boxes) == ("other_product", None, ())


def test_a_plan_is_cut_into_pages_and_sums_up_all_of_it(server: RunningServer) -> None:
    with Client(server.url, ci_key=server.ci_key) as ci:
        ci.send(calls.report_run(report(21, A, {"i2c": "pass"})))
        ci.send(calls.announce_merge(merge("7" * 40)))
    with Client(server.url, token=server.token) as person:
        first = person.send(calls.plan_merges(server.org_id, limit=1))
        rest = person.send(calls.plan_merges(server.org_id, limit=1, page=2))

    assert (first.unchecked_merges, first.runs.total, first.unplanned) == (2, 2, ())
    assert first.board_seconds == rest.board_seconds == 600
    assert {one.sha for page in (first, rest) for one in page.runs.items} == {UNSEEN, "7" * 40}


def test_the_other_boxes_whose_run_tells_the_cause_are_named(server: RunningServer) -> None:
    sha = "8" * 40
    with Client(server.url, ci_key=server.ci_key) as ci:
        ci.send(calls.announce_merge(merge(sha)))
        for number, box in ((30, "bench-3"), (31, "bench-2"), (32, "bench-2"), (33, BOX)):
            ci.send(calls.report_run(report(number, sha).model_copy(update={"box_key": box})))
    with Client(server.url, token=server.token) as person:
        rows = person.send(calls.explain_unchecked_merges(server.org_id)).items
    told = next(row for row in rows if row.sha == sha)

    assert told.run is not None
    assert (told.cause, told.run.box_key) == ("hardware_not_reached", "bench-3")
    assert told.other_boxes == (BOX, "bench-2")
    assert [(one.box_key, one.run_id) for one in told.other_runs] == [(BOX, 33), ("bench-2", 31)]
