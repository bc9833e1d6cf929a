# SPDX-License-Identifier: Apache-2.0
"""Where a CI system shows a summary, `report-run` leaves one; elsewhere it leaves none."""

import json
from pathlib import Path

import pytest

from hwci.ci.systems import SYSTEMS
from hwci.contract.ci_systems import CiSystem
from tests.ci.systems import CASES
from tests.cli.conftest import Command
from tests.cli.jobs import NOWHERE, junit
from tests.support.answering import Answer, answering
from tests.support.recorded import recorded

RUN = ("report-run", "--box", "bench-1", "--no-changes", "--junit", "one.xml")
HERE = {"HWCI_MERGED_AT": "", "HWCI_TRIGGER": "manual", "HWCI_STARTED_AT": "2026-01-31T09:30:00Z"}
ROW = "| bench-1 | 2 | 1 | 0 | ok |"


@pytest.fixture(autouse=True)
def results(tmp_path: Path) -> Path:
    (tmp_path / "one.xml").write_text(junit("a", "b", fails="b"))
    return tmp_path


def of(name: str, **more: str) -> dict[str, str]:
    return recorded(name) | HERE | more


def test_github_gets_a_page(in_ci: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Of another step\n")

    code, out, _ = in_ci(*RUN, "--strict", **of("github-push", GITHUB_STEP_SUMMARY=str(page)))

    assert (code, out) == (0, "")
    assert page.read_text().startswith("Of another step\n### Hardware tests: acme/firmware")
    assert ROW in page.read_text()
    assert "- Reported.\n" in page.read_text()


def test_what_went_wrong_is_a_warning_of_github(in_ci: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    (tmp_path / "two.xml").write_text("broken")
    environ = of("github-push", GITHUB_STEP_SUMMARY=str(page), HWCI_URL=NOWHERE)

    code, out, _ = in_ci(*RUN, "two.xml", "--deadline", "0", **environ)

    assert code == 0
    first, second = out.splitlines()
    assert first.startswith("::warning title=hwci::two.xml")
    assert second.startswith("::warning title=hwci::The run was not reported yet: it is kept")
    assert "- Not reported yet: it is kept on this machine, and the next" in page.read_text()


def test_a_log_with_control_characters_is_noted_and_costs_nothing(
    in_ci: Command, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    tests = junit("a", "b").replace("<testcase", "\x07<testcase")
    (tmp_path / "one.xml").write_text(tests)
    environ = of("github-push", GITHUB_STEP_SUMMARY=str(page))

    code, _, err = in_ci(*RUN, "--strict", **environ)
    body = json.loads(in_ci(*RUN, "--dry-run", **environ).out)

    assert code == 0
    assert "note: one.xml:1: It holds 2 characters that XML forbids, read as text" in err
    assert "It holds 2 characters that XML forbids" in page.read_text()
    assert ([item["id"] for item in body["tests"]], body["conclusion"]) == (
        ["t.a", "t.b"],
        "success",
    )


def test_times_that_can_hardly_be_are_a_warning_of_the_page(in_ci: Command, tmp_path: Path) -> None:
    environ = of("github-push", GITHUB_STEP_SUMMARY=str(tmp_path / "page.md"))

    _, out, _ = in_ci(*RUN, "--started-at", "1970-01-01T00:10:00Z", **environ)

    assert out.startswith("::warning title=hwci::The times of the report of bench-1 are doubtful")
    assert "1970-01-01" in (tmp_path / "page.md").read_text()


def test_what_is_not_kept_is_not_shown_as_kept(in_ci: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    environ = of("github-push", GITHUB_STEP_SUMMARY=str(page), HWCI_CI_KEY="")

    code, out, _ = in_ci(*RUN, **environ)

    assert code == 0
    why = "not reported: see the log of this step"
    assert out == f"::warning title=hwci::The run was {why}\n"
    assert f"- {why.capitalize()}." in page.read_text()


@pytest.mark.parametrize("other", [204, 503])
def test_a_run_of_which_a_report_was_refused_is_not_shown_as_kept(
    in_ci: Command, tmp_path: Path, other: int
) -> None:
    page = tmp_path / "page.md"
    boxes = [word for box in "ab" for word in ("--junit", f"{box}=one.xml")]
    given = {"statusCode": 400, "error": "Refused", "message": "No"}
    with answering(Answer(400, json.dumps(given).encode()), Answer(other)) as server:
        environ = of("github-push", GITHUB_STEP_SUMMARY=str(page), HWCI_URL=server.url)
        in_ci("report-run", "--no-changes", "--deadline=0", *boxes, **environ)
        assert len(server.received) == 2

    assert "- Not reported: see the log of this step." in page.read_text()


def test_buildkite_gets_an_annotation_from_its_agent(in_ci: Command, tmp_path: Path) -> None:
    agent = tmp_path / "bin" / "buildkite-agent"
    agent.parent.mkdir()
    agent.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncat > {tmp_path}/page\n')
    agent.chmod(0o755)
    environ = of("buildkite-webhook", PATH=f"{agent.parent}:/usr/bin:/bin")

    code, out, _ = in_ci(*RUN, "--strict", **environ)

    assert (code, out) == (0, "")
    words = (tmp_path / "words").read_text()
    assert words == ("annotate --style info --context hwci-0193a7e2-63f7-4b9e-8a5c-0d6a7d1f9f10\n")
    assert ROW in (tmp_path / "page").read_text()


def test_azure_takes_a_file_that_stays_until_the_step_ends(in_ci: Command, tmp_path: Path) -> None:
    environ = of("azure-ci", AGENT_TEMPDIRECTORY=str(tmp_path))

    code, out, _ = in_ci(*RUN, "--strict", **environ)

    assert code == 0
    assert out.startswith("##vso[task.uploadsummary]")
    assert ROW in Path(out.strip().partition("]")[2]).read_text()


@pytest.mark.parametrize("name", [system.name for system in SYSTEMS if system.show_summary is None])
def test_a_system_without_such_a_page_gets_none(in_ci: Command, name: CiSystem) -> None:
    code, out, _ = in_ci(*RUN, "--strict", **of(CASES[name].runner.recording))

    assert (code, out) == (0, "")


def test_a_person_who_wants_no_page_gets_none(in_ci: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    environ = of("github-push", GITHUB_STEP_SUMMARY=str(page))

    assert in_ci(*RUN, "--strict", "--no-summary", **environ).code == 0
    assert in_ci(*RUN, "--dry-run", **environ).code == 0
    assert not page.exists()


@pytest.mark.parametrize("page", ["/nowhere/page.md", ""])
def test_a_page_that_cannot_be_written_fails_no_build(in_ci: Command, page: str) -> None:
    assert in_ci(*RUN, "--strict", **of("github-push", GITHUB_STEP_SUMMARY=page)).code == 0


def test_an_agent_that_fails_fails_no_build(in_ci: Command, tmp_path: Path) -> None:
    agent = tmp_path / "buildkite-agent"
    agent.write_text("#!/bin/sh\nexit 1\n")
    agent.chmod(0o755)

    environ = of("buildkite-webhook", PATH=f"{tmp_path}:/usr/bin:/bin")

    assert in_ci(*RUN, "--strict", **environ).code == 0
