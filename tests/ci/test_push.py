# SPDX-License-Identifier: Apache-2.0
"""Which commits a run covers by the CI's own list of builds: those of its push and
of no other, whatever came of the builds before.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.detect import find_job
from hwci.ci.git.repository import Repository
from hwci.ci.job import Job
from hwci.ci.reporting.under_test import UnderTest, series_of, under_test
from hwci.client.store import BenchStore, PendingReport
from hwci.wire.reports import RunReport
from tests.ci.answering import Answering, answering
from tests.ci.apis import APIS, AZURE, BUILDKITE, asking, history, job_of
from tests.ci.reporting import report_of
from tests.support.clones import Story
from tests.support.pending import ADDRESS, KEY
from tests.support.recorded import recorded

TITLES = ("Azure's API", "Buildkite's API")
COMMIT = {
    "Azure's API": "BUILD_SOURCEVERSION",
    "Buildkite's API": "BUILDKITE_COMMIT",
    "GitHub's API": "GITHUB_SHA",
    "GitLab's API": "CI_COMMIT_SHA",
}
FIRST_ATTEMPT = {"SYSTEM_JOBATTEMPT": "1", "BUILDKITE_RETRY_COUNT": "0"}
TOKEN = {"Azure's API": "SYSTEM_ACCESSTOKEN", "Buildkite's API": "BUILDKITE_API_TOKEN"}
LIST = {"Azure's API": AZURE, "Buildkite's API": BUILDKITE}

Builds = list[tuple[int | str, str | None]]
"""The builds before, the newest first: of which commit, and how this job ended there."""

passed, skipped = {title: APIS[title].passed for title in TITLES}, "skipped"


def rows_of(title: str, answers: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the listed builds before the one that asks."""
    rows = answers[AZURE]["value"] if title == "Azure's API" else answers[BUILDKITE][1:]
    assert isinstance(rows, list)
    return rows


@dataclass
class Bench:
    """A machine that tests commits of a line of ten, by the number of each."""

    folder: Path
    shas: Mapping[int, str]

    @property
    def store(self) -> BenchStore:
        return BenchStore(self.folder / "spool")

    def look(self, job: Job, server: Answering) -> UnderTest:
        past = self.store.recall(series_of(job)).past
        return under_test(job, Repository(self.folder / "origin"), past, asking(server))

    def keep(self, report: RunReport) -> None:
        self.store.keep([PendingReport.of(report)], ADDRESS, KEY)

    def numbers(self, found: UnderTest) -> list[int]:
        numbers = {sha: number for number, sha in self.shas.items()}
        return [numbers[sha] for sha in found.covers_shas]

    def answers(self, title: str, builds: Builds) -> dict[str, Any]:
        named = [(self.shas.get(of, of) if isinstance(of, int) else of, by) for of, by in builds]
        return history(title, *[(str(sha), ended) for sha, ended in named])

    def ask(
        self, title: str, commit: int, answers: dict[str, Any], *, token: bool = True, **more: str
    ) -> tuple[list[int], UnderTest, Answering]:
        """Return what the run of a pushed commit covers, and all that it has under test."""
        with answering(answers) as server:
            given = {COMMIT[title]: self.shas[commit], **more}
            found = self.look(job_of(server, title, token=token, **given), server)
        return self.numbers(found), found, server

    def covers(self, title: str, commit: int, builds: Builds, **more: str) -> list[int]:
        covers, found, _ = self.ask(title, commit, self.answers(title, builds), token=True, **more)
        assert found.notes == ()
        return covers


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    story = Story()
    story.branches["main"] = story.walk(0, 10)
    return Bench(tmp_path, story.made(tmp_path / "origin"))


@pytest.mark.parametrize("title", TITLES)
def test_a_push_whose_test_was_skipped_is_not_covered_by_the_next(title: str, bench: Bench) -> None:
    """The changes count from what was tested: those of the skipped push are still under test."""
    answers = bench.answers(title, [(4, skipped), (2, passed[title])])

    covers, found, server = bench.ask(title, 6, answers)

    assert covers == [5, 6]
    assert found.base.value == bench.shas[2]
    assert found.notes == ()
    assert [asked.path for asked in server.asked].count(LIST[title]) == 1


ENDS: dict[str, list[dict[str, Any]]] = {
    "Azure's API": [
        {"status": "completed", "result": "canceled"},
        {"status": "completed", "result": "failed"},
        {"status": "inProgress", "result": None},
        {"status": "notStarted", "result": None},
        {"status": "postponed", "result": None},
    ],
    "Buildkite's API": [
        {"state": state, "jobs": []}
        for state in ("canceled", "failed", "running", "scheduled", "skipped", "not_run", "blocked")
    ],
}


@pytest.mark.parametrize(
    ("title", "end"), [(title, end) for title in TITLES for end in ENDS[title]]
)
def test_nor_is_one_whose_build_ended_otherwise_or_goes_on(
    title: str, end: dict[str, Any], bench: Bench
) -> None:
    answers = bench.answers(title, [(4, None), (2, passed[title])])
    rows_of(title, answers)[0].update(end)

    assert bench.ask(title, 6, answers)[0] == [5, 6]


@pytest.mark.parametrize("title", TITLES)
def test_a_commit_that_is_built_again_was_pushed_before_its_first_build(
    title: str, bench: Bench
) -> None:
    once, more = (6, skipped), (2, passed[title])

    assert bench.covers(title, 6, [once, (4, skipped), more]) == [5, 6]
    assert bench.covers(title, 6, [once, once, (4, skipped), more]) == [5, 6]
    assert bench.covers(title, 6, [(8, skipped), once, (4, skipped), more]) == [5, 6]


@pytest.mark.parametrize("title", TITLES)
def test_an_older_commit_that_was_built_since_opens_no_other_push(title: str, bench: Bench) -> None:
    """Built again, or for the first time to look for a fault: 5 was pushed with 4, and is built."""
    again: Builds = [(2, passed[title]), (5, skipped), (2, passed[title])]
    searched: Builds = [(4, passed[title]), (5, skipped), (2, passed[title])]

    assert bench.covers(title, 7, again) == [6, 7]
    assert bench.covers(title, 7, searched) == [6, 7]


@pytest.mark.parametrize("title", TITLES)
def test_what_came_from_the_side_is_of_the_push_that_merged_it(title: str, tmp_path: Path) -> None:
    story = Story()
    root = story.walk(0, 2)
    side = story.commit([root], {b"side": ("100644", b"s")})
    main = story.commit([root], {b"main": ("100644", b"m")})
    merge = story.commit([main, side], {b"side": ("100644", b"s")})
    story.branches["main"] = merge
    bench = Bench(tmp_path, story.made(tmp_path / "origin"))

    covers = bench.covers(title, merge, [(main, skipped), (root, passed[title])])

    assert covers == [side, merge]


@pytest.mark.parametrize("title", TITLES)
def test_no_more_of_a_long_list_is_read_than_needed(title: str, bench: Bench) -> None:
    tested = (2, passed[title])

    assert bench.covers(title, 6, [(4, skipped), *[tested] * 150]) == [5, 6]


@pytest.mark.parametrize("title", TITLES)
def test_a_short_hash_names_a_commit_as_well(title: str, bench: Bench) -> None:
    short = {number: sha[:9] for number, sha in bench.shas.items()}
    tested = (short[1], passed[title])

    assert bench.covers(title, 6, [(short[6], skipped), (short[4], skipped), tested]) == [5, 6]
    assert bench.covers(title, 6, [(short[2], skipped), (short[5], skipped), tested]) == [6]


@pytest.mark.parametrize("title", TITLES)
def test_the_base_of_the_changes_is_not_asked(title: str, bench: Bench) -> None:
    """From a person, or from the first attempt, which this machine remembers."""
    answers = bench.answers(title, [(4, skipped), (2, passed[title])])

    covers, found, _ = bench.ask(
        title, 6, answers, token=True, **FIRST_ATTEMPT, HWCI_BASE_SHA=bench.shas[1]
    )
    assert (covers, found.base.value) == ([5, 6], bench.shas[1])

    with answering(answers) as server:
        job = job_of(server, title, token=True, **FIRST_ATTEMPT, **{COMMIT[title]: bench.shas[6]})
        first = bench.look(job, server)
        bench.keep(report_of(job, first.changes))
    covers, found, _ = bench.ask(title, 6, answers)
    assert (covers, found.base.source) == ([5, 6], "the run before, kept on this bench")


# If it is unknown: the run's own commit, which is never wrong


def only_its_own(
    title: str, bench: Bench, answers: dict[str, Any], *, token: bool = True, **more: str
) -> str:
    """Return the note about a merge that covers no more than itself, on a bench that remembers."""
    with answering({}) as server:
        earlier = job_of(
            server, title, token=True, HWCI_RUN_ID="7", **{COMMIT[title]: bench.shas[2]}
        )
        bench.keep(report_of(earlier, None))
    covers, found, _ = bench.ask(title, 6, answers, token=token, **FIRST_ATTEMPT, **more)

    assert covers == [6]
    assert found.base.value == bench.shas[2]
    (note,) = (note for note in found.notes if "--covers-shas" in note)
    assert f"covers only {bench.shas[6][:12]}" in note
    return note


@pytest.mark.parametrize("title", TITLES)
def test_without_a_token_a_run_covers_its_own_commit(title: str, bench: Bench) -> None:
    answers = bench.answers(title, [(4, skipped), (2, passed[title])])

    note = only_its_own(title, bench, answers, token=False)

    assert f"set {TOKEN[title]}, or set" in note


@pytest.mark.parametrize(
    ("title", "unset", "lacking"),
    [
        ("Azure's API", "SYSTEM_DEFINITIONID", "SYSTEM_DEFINITIONID"),
        ("Azure's API", "BUILD_SOURCEBRANCH", "BUILD_SOURCEBRANCH and HWCI_BRANCH"),
        ("Buildkite's API", "BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_ORGANIZATION_SLUG"),
        ("Buildkite's API", "BUILDKITE_BRANCH", "HWCI_BRANCH"),
    ],
)
def test_a_token_that_is_set_is_not_asked_for(
    title: str, unset: str, lacking: str, bench: Bench
) -> None:
    """The note names what lacks beside it."""
    covers, found, _ = bench.ask(title, 6, {}, token=True, HWCI_TRIGGER="merge", **{unset: ""})

    (note,) = (note for note in found.notes if "--covers-shas" in note)
    assert covers == [6]
    assert f"before it: set {lacking}, or set --before-sha" in note


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("answer", [401, 500, b"", b"{}"])
def test_a_run_covers_its_own_commit_where_the_api_is_away(
    title: str, answer: object, bench: Bench
) -> None:
    note = only_its_own(title, bench, {LIST[title]: answer})

    assert f"{title} did not return the build before this one" in note


@pytest.mark.parametrize("title", TITLES)
def test_an_api_that_is_away_is_not_waited_for_twice(title: str, bench: Bench) -> None:
    _, _, server = bench.ask(title, 6, {LIST[title]: 500})

    assert len(server.asked) == 1


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("commit", ["HEAD", "", "0" * 40])
def test_an_earlier_build_without_its_commit_is_not_skipped(
    title: str, commit: str, bench: Bench
) -> None:
    answers = bench.answers(title, [(commit, skipped), (4, skipped), (2, passed[title])])

    assert "does not name the commit" in only_its_own(title, bench, answers)


@pytest.mark.parametrize("title", TITLES)
def test_the_first_build_of_a_branch_covers_its_own_commit(title: str, bench: Bench) -> None:
    assert "lists no build" in only_its_own(title, bench, bench.answers(title, []))
    again = bench.answers(title, [(6, skipped)])
    assert "lists no build" in only_its_own(title, bench, again)


@pytest.mark.parametrize("title", TITLES)
def test_text_in_place_of_a_number_is_an_error(title: str, bench: Bench) -> None:
    number = {"Azure's API": "BUILD_BUILDID", "Buildkite's API": "BUILDKITE_BUILD_NUMBER"}[title]
    more = {number: "x", "HWCI_RUN_ID": "8"}

    assert "needs numbers" in only_its_own(title, bench, {}, token=True, **more)


@pytest.mark.parametrize("title", TITLES)
def test_a_job_that_knows_its_push_asks_no_api_and_notes_nothing(title: str, bench: Bench) -> None:
    shas = bench.shas
    nightly = {"BUILD_REASON": "Schedule", "BUILDKITE_SOURCE": "schedule"}
    based = {"HWCI_BASE_SHA": shas[3]}

    for more, covers in (
        ({"HWCI_BEFORE_SHA": shas[3]}, [4, 5, 6]),
        ({"HWCI_COVERS_SHAS": f"{shas[5]},{shas[6]}"}, [5, 6]),
        (nightly, [6]),  # no push started it
    ):
        result, found, _ = bench.ask(title, 6, {}, token=False, **based, **more)
        assert (result, found.notes) == (covers, ())


# The other systems: each says of the push itself, or nothing


def test_a_push_of_github_or_gitlab_is_what_the_event_says(bench: Bench, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(f'{{"before": "{bench.shas[4]}", "repository": {{"default_branch": "main"}}}}')
    given: dict[str, dict[str, str]] = {
        "GitHub's API": {"GITHUB_EVENT_PATH": str(event)},
        "GitLab's API": {"CI_COMMIT_BEFORE_SHA": bench.shas[4]},
    }
    for title, more in given.items():
        answers = bench.answers(title, [(4, skipped), (2, APIS[title].passed)])

        covers, found, _ = bench.ask(title, 6, answers, token=True, **more)

        assert (covers, found.base.value) == ([5, 6], bench.shas[2])
        assert found.notes == ()


def test_where_they_do_not_say_it_the_base_does_not_stand_in(bench: Bench, tmp_path: Path) -> None:
    """A new branch, or a forced push without commits."""
    event = tmp_path / "event.json"
    event.write_text(
        f'{{"before": "{bench.shas[4]}", "forced": true, "commits": [],'
        ' "repository": {"default_branch": "main"}}'
    )
    given: dict[str, dict[str, str]] = {
        "GitHub's API": {"GITHUB_EVENT_PATH": str(event)},
        "GitLab's API": {"CI_COMMIT_BEFORE_SHA": "0" * 40},
    }
    for title, more in given.items():
        answers = bench.answers(title, [(4, skipped), (2, APIS[title].passed)])

        covers, found, _ = bench.ask(title, 6, answers, token=True, **more)

        assert (covers, found.base.value) == ([6], bench.shas[2])
        assert "it is not known where the branch stood" in found.notes[0]


def test_a_source_that_says_where_the_branch_was_is_believed_before_the_list_of_the_event(
    bench: Bench, tmp_path: Path
) -> None:
    event = tmp_path / "event.json"
    pushed = [{"id": bench.shas[number]} for number in (4, 5, 6)]
    event.write_text(json.dumps({"commits": pushed, "repository": {"default_branch": "main"}}))
    answers = bench.answers("GitHub's API", [(2, APIS["GitHub's API"].passed)])
    say = partial(bench.ask, "GitHub's API", 6, answers, GITHUB_EVENT_PATH=str(event))

    listed, _, _ = say()
    result, _, _ = say(HWCI_BEFORE_SHA=bench.shas[5])

    assert (listed, result) == ([4, 5, 6], [6])


def test_a_push_that_the_clone_does_not_hold_is_noted(bench: Bench) -> None:
    """GitLab names a commit that is gone after a forced push."""
    answers = bench.answers("GitLab's API", [(2, APIS["GitLab's API"].passed)])
    say = partial(bench.ask, "GitLab's API", 6, answers, CI_COMMIT_BEFORE_SHA="1" * 40)

    covers, merge, _ = say()
    _, nightly, _ = say(HWCI_TRIGGER="nightly")

    assert covers == [6]
    (note,) = merge.notes
    assert (
        f"covers only {bench.shas[6][:12]}, as what came after 111111111111 is not in this clone"
        in note
    )
    assert nightly.notes == ()


def jenkins(bench: Bench, server: Answering, **more: str) -> UnderTest:
    tested = {"GIT_PREVIOUS_COMMIT": bench.shas[2], "GIT_PREVIOUS_SUCCESSFUL_COMMIT": bench.shas[2]}
    environ = recorded("jenkins-multibranch") | tested | {"GIT_COMMIT": bench.shas[6]} | more
    return bench.look(find_job({}, environ, None, None), server)


def test_the_build_before_that_jenkins_names_opens_no_push(bench: Bench) -> None:
    """It is not that of the push before, where that one was replaced or never checked out."""
    with answering({}) as server:
        merge = jenkins(bench, server, HWCI_TRIGGER="merge")
        nightly = jenkins(bench, server, HWCI_TRIGGER="nightly")
        result = jenkins(bench, server, HWCI_TRIGGER="merge", HWCI_BEFORE_SHA=bench.shas[2])

    assert bench.numbers(merge) == bench.numbers(nightly) == [6]
    assert "set --before-sha or --covers-shas" in merge.notes[0]
    assert nightly.notes == ()
    assert bench.numbers(result) == [3, 4, 5, 6]
    assert result.notes == ()


def test_circleci_covers_what_its_configuration_hands_on(bench: Bench) -> None:
    environ = recorded("circleci-push") | {"CIRCLE_SHA1": bench.shas[6]}
    with answering({}) as server:
        jobs = (
            find_job({}, environ | {"HWCI_BEFORE_SHA": before}, None, None)
            for before in (bench.shas[4], "")
        )
        result, unknown = (bench.look(job, server) for job in jobs)

    assert (bench.numbers(result), result.notes) == ([5, 6], ())
    assert bench.numbers(unknown) == [6]
    assert "it is not known where the branch stood" in unknown.notes[0]
