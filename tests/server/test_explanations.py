# SPDX-License-Identifier: Apache-2.0
"""What would change a class, over HTTP (contract, "Answers beside the rules")."""

from collections.abc import Iterator

import pytest

from hwci.wire.explanations import ExplanationAnswer
from tests.server.test_metrics import CONFIG, RUNS, failure_id, get
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


def explained(server: RunningServer, test_id: str) -> ExplanationAnswer:
    path = f"ci-analysis/failures/{failure_id(server, test_id)}"
    return ExplanationAnswer.model_validate(get(server, path, ""))


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
    assert explained(told, test_id) == ExplanationAnswer(edits=[], complete=True)


def test_an_unknown_failure_is_not_found(told: RunningServer) -> None:
    path = f"/api/orgs/{told.org_id}/ci-analysis/failures/{told.org_id}"
    assert ask(told.url, "GET", path, bearer(told.member_token)).status == 404
