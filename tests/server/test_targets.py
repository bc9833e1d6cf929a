# SPDX-License-Identifier: Apache-2.0
"""Target shares of a team stand in its suite configurations, and beside the tiles by day."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.benches import Benches
from tests.support.running import Hands, running_in_thread

BOTH = {"merges_checked": 95, "infra_runs": 25}


@pytest.fixture
def benches(tmp_path: Path) -> Iterator[Benches]:
    """Four runs of one product, of which one never reached the hardware."""
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        made = Benches(server, hands)
        for run in range(1, 5):
            assert made.report(suite="a", run_id=run, hello_ok=run > 1).status == 204
        yield made


def targets(benches: Benches, query: str = "") -> Any:
    answer = benches.member("GET", f"ci-analysis/days?{query}")
    assert answer.status == 200, answer.body
    return answer.json.get("targets")


@pytest.mark.parametrize(("most", "met"), [(25, True), (24.9, False), (0, False), (100, True)])
def test_a_target_is_met_by_the_share_of_the_whole_period(
    benches: Benches, most: float, met: bool
) -> None:
    benches.configure(suite="a", targets={"merges_checked": 95, "infra_runs": most})

    assert targets(benches) == {
        "mergesChecked": {"rate": 95, "met": None},  # no merge was announced
        "infraRuns": {"rate": most, "met": met},
    }


def test_all_products_have_a_target_together_only_where_each_has_the_same(
    benches: Benches,
) -> None:
    benches.configure(suite="a", targets=BOTH)
    benches.configure(suite="b", targets=BOTH)
    assert targets(benches)["mergesChecked"]["rate"] == 95

    benches.configure(suite="b", targets={**BOTH, "merges_checked": 90})
    assert targets(benches)["mergesChecked"] is None
    assert targets(benches)["infraRuns"]["rate"] == 25
    of_b = targets(benches, "repoKey=acme/firmware&suite=b")
    assert of_b["mergesChecked"]["rate"] == 90

    benches.configure(suite="b")
    assert targets(benches) is None
    assert targets(benches, "repoKey=acme/firmware&suite=a")["infraRuns"]["met"] is True
    # One that is not configured has none, either.
    benches.configure(suite="b", targets=BOTH)
    assert benches.report(suite="c", run_id=9).status == 204
    assert targets(benches) is None


def test_without_a_target_no_answer_has_one(benches: Benches) -> None:
    nothing: list[dict[str, Any]] = [{}, {"targets": {}}]
    for sent in nothing:
        benches.configure(suite="a", **sent)
        assert b"arget" not in benches.member("GET", "products").body
        assert targets(benches) is None
        [config] = benches.member("GET", "suite-configs").json["items"]
        assert config["targets"] is None


def test_a_configuration_tells_the_targets_that_were_sent(benches: Benches) -> None:
    benches.configure(suite="a", targets={"merges_checked": 99.9})

    (one,) = benches.member("GET", "suite-configs").json["items"]
    assert one["targets"] == {"mergesChecked": 99.9, "infraRuns": None}
