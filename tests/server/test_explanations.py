# SPDX-License-Identifier: Apache-2.0
"""What would change a class, and what CI left out, over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hwci.contract.failures.explanations import Explanation, Gaps
from hwci.contract.vocabulary import Gap
from hwci.wire.codec import adapter
from tests.server.small_history import AS_OF, CONFIG, RUNS, failure_id, get, run
from tests.support.asking import ask, bearer, ci_key
from tests.support.running import RunningServer, running_in_thread


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("told")) as server:
        key = ci_key(server.ci_key)
        ask(server.url, "PUT", "/api/ci/suite-config", key, json_body=CONFIG)
        for body in RUNS:
            assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204
        yield server


def explained(server: RunningServer, test_id: str) -> Explanation:
    path = f"ci-analysis/failures/{failure_id(server, test_id)}"
    return adapter(Explanation).validate_python(get(server, path, ""))


def test_a_failure_shows_each_edit_with_the_class_that_it_would_give(told: RunningServer) -> None:
    found = explained(told, "boot")
    edits = [(one.kind, one.pattern, one.failure_class, one.condition) for one in found.edits]

    assert found.complete
    assert edits == [
        (
            "verdict",
            None,
            "bench_or_harness",
            "the harness had blamed the bench in the first failing run",
        ),
        ("patternAdded", "!src/**", "bench_or_harness", _had("firmware", "!src/**")),
        ("patternAdded", "src/**", "ambiguous", _had("harness", "src/**")),
        ("patternAdded", "!src/boot.c", "bench_or_harness", _had("firmware", "!src/boot.c")),
        ("patternAdded", "src/boot.c", "ambiguous", _had("harness", "src/boot.c")),
        (
            "patternRemoved",
            "src/**",
            "bench_or_harness",
            'firmware_paths did not have the pattern "src/**"',
        ),
        ("review", None, "dismissed", "an owner or admin dismissed it"),
    ]
    assert found.edits[1].to_do.startswith('If that is right, add "!src/**" to firmware_paths')


def _had(paths: str, pattern: str) -> str:
    return f'{paths}_paths had the pattern "{pattern}"'


@pytest.mark.parametrize("test_id", ["usb", "adc"])
def test_a_failure_that_is_not_resolved_has_no_edit(told: RunningServer, test_id: str) -> None:
    assert explained(told, test_id) == Explanation(edits=(), complete=True, lost_board=None)


def test_an_unknown_failure_is_not_found(told: RunningServer) -> None:
    path = f"/api/orgs/{told.org_id}/ci-analysis/failures/{told.org_id}"
    assert ask(told.url, "GET", path, bearer(told.member_token)).status == 404


def test_what_ci_left_out_is_listed_with_what_it_would_decide(tmp_path: Path) -> None:
    failed = run("b", 1, {"boot": "fail"}, "src/boot.c")
    del failed["tests"][0]["verdict"]
    with running_in_thread(tmp_path) as server:
        key = ci_key(server.ci_key)
        ask(server.url, "PUT", "/api/ci/suite-config", key, json_body=CONFIG)
        for body in (failed, run("c", 2, {"boot": "pass"}, "src/boot.c")):
            assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204
        answer = get(server, "ci-analysis/gaps")
        of_product = get(
            server, "ci-analysis/gaps", f"{AS_OF}&repoKey=acme/firmware&suite=hardware"
        )

    found = adapter(Gaps).validate_python(answer)
    (gap,) = found.gaps
    assert (found.ambiguous, found.looked_at) == (1, 1)
    assert (gap.gap, gap.failures, gap.at_least, gap.at_most) == ("noVerdict", 1, 1, 1)
    assert gap.to_do.startswith("Say in a [[verdict]] rule")
    assert [(one.ci, one.where) for one in gap.ci_lines] == [(None, "In hwci.toml")]
    assert of_product["gaps"] == answer["gaps"]


def test_the_lines_of_ci_are_those_of_the_system_whose_pages_the_reports_name(
    tmp_path: Path,
) -> None:
    page = {"ci_url": "https://git.acme.example/fw/-/jobs/7"}
    with running_in_thread(tmp_path) as server:
        key = ci_key(server.ci_key)
        failed, passed = run("b", 1, {"boot": "fail"}), run("c", 2, {"boot": "pass"})
        for body in (failed | page, passed):
            body.pop("changes", None)
            assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204
        found = adapter(Gaps).validate_python(get(server, "ci-analysis/gaps"))

    texts = {one.gap: one.ci_lines for one in found.gaps}
    assert {"noConfiguration", "noChanges"} <= set(texts)
    for lines in texts.values():
        [one] = lines
        assert one.ci == "gitlab"
        assert one.where.startswith("In .gitlab-ci.yml, in ")
    assert 'GIT_DEPTH: "0"' in texts[Gap.NO_CHANGES][0].lines


def test_a_period_without_ambiguous_failures_has_no_gap(told: RunningServer) -> None:
    found = adapter(Gaps).validate_python(get(told, "ci-analysis/gaps"))
    assert (found.gaps, found.ambiguous, found.looked_at) == ((), 0, 0)
