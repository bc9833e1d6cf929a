# SPDX-License-Identifier: Apache-2.0
"""A target is met at the very share that was asked for, though binary fractions cannot hold it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hwci.analysis.periods.targets import targets
from hwci.contract.periods.days import DayCounts, Target, Targets
from hwci.contract.runs import products
from tests.engine.timeline import CONFIG, START

OF_A_THOUSAND = DayCounts(
    first_day=START.date(),
    last_day=START.date(),
    whole=True,
    start=START,
    end=START + timedelta(days=1),
    merges_checked=0,
    merges_announced=500,
    checked=None,
    real_fw_bugs=0,
    flaky_failures=0,
    infra_runs=0,
    runs=500,
    infra=None,
)
"""A day with half of a thousand merges and runs, all of them unchecked and on the hardware."""


def found(aims: products.Targets, checked: int, infra: int) -> Targets | None:
    """Ask for two days, of which the first has all that counts."""
    first = replace(OF_A_THOUSAND, merges_checked=checked, infra_runs=infra)
    return targets([replace(CONFIG, targets=aims)], [first, OF_A_THOUSAND])


@pytest.mark.parametrize(
    ("rate", "checked", "met"),
    [(99.9, 998, False), (99.9, 999, True), (99.9, 1000, True), (0, 0, True), (100, 999, False)],
)
def test_merges_are_checked_at_least_so_often(rate: float, checked: int, met: bool) -> None:
    assert found(products.Targets(merges_checked=rate), checked, 0) == Targets(
        merges_checked=Target(rate=rate, met=met), infra_runs=None
    )


@pytest.mark.parametrize(
    ("rate", "infra", "met"),
    [(24.9, 249, True), (24.9, 250, False), (0, 0, True), (0, 1, False), (100, 1000, True)],
)
def test_runs_miss_the_hardware_at_most_so_often(rate: float, infra: int, met: bool) -> None:
    assert found(products.Targets(infra_runs=rate), 0, infra) == Targets(
        merges_checked=None, infra_runs=Target(rate=rate, met=met)
    )
