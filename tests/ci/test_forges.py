# SPDX-License-Identifier: Apache-2.0
"""One comment in a pull request, and a status of its commit, at each forge."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.detect import find_job
from hwci.ci.forges import forge_of
from hwci.ci.forges.comments import ALL_S, TRIES, Requests, put_comment, set_status
from hwci.ci.forges.forge import Comment, State, Status
from hwci.ci.reporting import CommandContext, Verdict, comment
from hwci.ci.reporting.run import Done
from hwci.ci.systems.api import ApiError
from hwci.contract.vocabulary import Whose
from tests.ci.commit_answers import NOON, PAGES, SUBJECT, answer, failure
from tests.ci.forge_servers import DIALECTS, HEAD, MERGED, OURS, THEIRS, TOKEN, ForgeServer, forge
from tests.support.recorded import NAMES, recorded

MARKER = SUBJECT.marker
FIRST, SECOND = (Comment(MARKER, f"{SUBJECT.first_line}\n{text}\n") for text in ("first", "second"))
NEWER = Comment(MARKER, f"{MARKER}{'4' * 40} -->\nnewer\n")
STATUS = Status("hwci/sensor-fw", state=State.FAILURE, description="1 failure", address="https://x")


@pytest.fixture(params=list(DIALECTS))
def server(request: pytest.FixtureRequest) -> Iterator[ForgeServer]:
    with forge(request.param) as served:
        yield served


@pytest.fixture
def github() -> Iterator[ForgeServer]:
    with forge("GitHub") as served:
        yield served


def put(server: ForgeServer, text: Comment, request: Requests | None = None) -> bool:
    job = server.job()
    at = forge_of(job)
    assert at is not None
    assert job.pull == 7
    request = request or Requests(at.header(str(at.token(job.environ))), sleep=waited.append)
    return put_comment(at, job, job.pull, text, request)


waited: list[float] = []


@pytest.fixture(autouse=True)
def no_waits() -> None:
    waited.clear()


def bodies(server: ForgeServer) -> list[str]:
    return [row["body"] for row in server.comments]


# One comment


def test_a_comment_is_made_once_and_then_updated_in_place(server: ForgeServer) -> None:
    server.add("Nice work", THEIRS)
    put(server, FIRST)
    put(server, SECOND)
    put(server, SECOND)

    assert bodies(server) == ["Nice work", SECOND.text]
    assert server.written.count(server.dialect.update) == 1  # the same text is not written again
    assert "DELETE" not in server.written


def test_the_comment_of_another_user_or_product_is_left_alone(server: ForgeServer) -> None:
    other = "<!-- hwci: acme%2Ffirmware%3Aboot-fw -->\nboot"
    server.add(FIRST.text, THEIRS)
    server.add(other)
    server.add(f"> {MARKER}")
    put(server, SECOND)

    assert bodies(server) == [FIRST.text, other, f"> {MARKER}", SECOND.text]


def test_a_job_of_an_older_commit_leaves_the_comment_of_a_newer_one(server: ForgeServer) -> None:
    server.add(NEWER.text)
    server.head = "4" * 40

    assert put(server, FIRST) is False
    assert bodies(server) == [NEWER.text]
    done, lines = commented(server, VERDICT)
    assert done == Done()
    assert lines[0].startswith("Left the comment in pull request 7")
    assert server.statuses[server.dialect.sha], "the older commit has a status of its own"


def test_the_head_of_a_pull_request_replaces_the_comment_of_any_commit(server: ForgeServer) -> None:
    server.add(NEWER.text)

    assert put(server, FIRST) is True
    assert bodies(server) == [FIRST.text]


def test_a_merge_train_replaces_the_comment_of_the_head_that_it_tests() -> None:
    with forge("GitLab") as server:
        server.add(NEWER.text)
        queued: dict[str, Any] = {
            "CI_MERGE_REQUEST_EVENT_TYPE": "merge_train",
            "CI_COMMIT_SHA": "8" * 40,
        }
        done, lines = commented(server, VERDICT, **queued)
        assert done == Done()
        assert lines[0].startswith("Wrote the comment in pull request 7")
        assert bodies(server) == [VERDICT.comment.text]

        server.head = "4" * 40
        server.comments[0]["body"] = NEWER.text
        assert commented(server, VERDICT, **queued)[1][0].startswith("Left the comment")


def test_a_job_of_an_older_commit_updates_its_own_comment(server: ForgeServer) -> None:
    """The pipeline of the newer one has not come so far."""
    server.head = "4" * 40

    assert put(server, FIRST) is True
    assert put(server, SECOND) is True
    assert bodies(server) == [SECOND.text]


def test_a_comment_that_names_no_commit_is_replaced_by_the_head_alone(server: ForgeServer) -> None:
    server.add(f"{MARKER}-->\nof an earlier version")

    server.head = "4" * 40
    assert put(server, FIRST) is False
    server.head = HEAD
    assert put(server, FIRST) is True


def test_a_comment_is_found_behind_many_others(server: ForgeServer) -> None:
    for number in range(250):
        server.add(f"{number}", THEIRS)
    server.add(FIRST.text)
    put(server, SECOND)

    assert bodies(server)[250:] == [SECOND.text]


def test_beyond_the_bound_no_second_comment_is_made(github: ForgeServer) -> None:
    github.comments = [{"id": at, "body": "x", "user": {"id": THEIRS}} for at in range(3_000)]

    with pytest.raises(ApiError, match="lists more than 3000"):
        put(github, FIRST)
    assert github.written == []


def test_comments_that_are_one_too_many_go(server: ForgeServer) -> None:
    for text in (FIRST, SECOND, FIRST):
        server.add(text.text)
    put(server, SECOND)

    assert server.comments == [{"id": 1, "body": SECOND.text, server.dialect.author: {"id": OURS}}]


def test_two_jobs_that_comment_at_once_leave_one_comment(server: ForgeServer) -> None:
    both = threading.Barrier(2)

    def meet(way: str, path: str) -> None:
        """Let both jobs look before one of them creates a comment."""
        if (way, path) == ("POST", server.dialect.list):
            both.wait(10)

    server.before = meet
    jobs = [threading.Thread(target=put, args=(server, text)) for text in (FIRST, SECOND)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(30)

    assert len(server.comments) == 1
    assert bodies(server)[0] in {FIRST.text, SECOND.text}


def test_the_younger_of_two_comments_gives_way_to_the_older(server: ForgeServer) -> None:
    """Another job creates one after this one looked, and before it creates its own."""

    def first_of_another(way: str, path: str) -> None:
        if (way, path) == ("POST", server.dialect.list):
            server.add(FIRST.text)

    server.before = first_of_another
    put(server, SECOND)

    assert [(row["id"], row["body"]) for row in server.comments] == [(1, SECOND.text)]


def test_the_older_of_two_comments_stays_as_the_later_job_left_it(server: ForgeServer) -> None:
    """Another job found the new comment, and updated it, before this one looks again."""

    def updated_by_another(way: str, _: str) -> None:
        if way == "GET" and server.comments:
            server.comments[0]["body"] = SECOND.text

    server.before = updated_by_another
    put(server, FIRST)

    assert bodies(server) == [SECOND.text]


def test_a_status_is_set_on_the_commit_that_people_see(server: ForgeServer) -> None:
    job = server.job()
    at = forge_of(job)
    assert at is not None
    set_status(at, job, STATUS, Requests(at.header(TOKEN)))

    [body] = server.statuses[server.dialect.sha]
    assert "https://x" in body.values()
    assert "hwci/sensor-fw" in body.values()
    assert body["state"] in {"failure", "failed"}
    assert body.get("pipeline_id") == ("4711" if server.dialect.sha == MERGED else None)


# Requests


@pytest.mark.parametrize(
    ("faults", "waits"),
    [
        ([(503, None), (502, None)], [1.0, 2.0]),
        ([(429, "7"), (403, "3")], [7.0, 3.0]),
        ([(429, "soon")], [1.0]),
    ],
)
def test_a_forge_that_is_busy_is_asked_again(
    server: ForgeServer, faults: list[tuple[int, str | None]], waits: list[float]
) -> None:
    server.faults = list(faults)
    put(server, FIRST)

    assert bodies(server) == [FIRST.text]
    assert waited == waits


@pytest.mark.parametrize(
    ("fault", "requests"), [((503, None), TRIES), ((429, "3600"), 1), ((403, None), 1)]
)
def test_a_forge_that_stays_busy_or_refuses_is_given_up(
    server: ForgeServer, fault: tuple[int, str | None], requests: int
) -> None:
    server.faults = [fault] * TRIES

    with pytest.raises(ApiError, match=f"answers {fault[0]}"):
        put(server, FIRST)
    assert len(server.asked) == requests
    assert sum(waited) < ALL_S


def test_all_requests_of_a_comment_have_one_time_together() -> None:
    now = iter(range(0, 10_000, 25))
    made: list[str] = []
    request = Requests({}, lambda way, *_: made.append(way), lambda: float(next(now)))

    for _ in range(3):
        request("GET", "https://x")
    with pytest.raises(ApiError, match="60 seconds were not enough"):
        request("GET", "https://x")
    assert len(made) == 3


def test_no_redirect_is_followed_with_the_token(server: ForgeServer) -> None:
    with forge("GitHub") as elsewhere:
        server.faults = [(307, f"{elsewhere.address}/user")]
        with pytest.raises(ApiError, match="answers 307"):
            put(server, FIRST)

        assert elsewhere.asked == []


# The command's part


def commented(
    server: ForgeServer, verdict: Verdict, pull: int | None = None, **more: str
) -> tuple[Done, list[str]]:
    lines: list[str] = []
    job = server.job(**more)
    context = CommandContext(job.environ, Path.cwd(), lambda: NOON, lines.append, lines.append)
    return comment(verdict, job, pull, context, summary=True), lines


VERDICT = Verdict.of(answer(failure(Whose.THIS_CHANGE)), SUBJECT)


def test_a_verdict_is_a_comment_a_status_and_a_summary(server: ForgeServer, tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    done, lines = commented(server, VERDICT, GITHUB_STEP_SUMMARY=str(page))

    assert done == Done()
    assert bodies(server) == [VERDICT.comment.text]
    [status] = server.statuses[server.dialect.sha]
    assert status["target_url"].startswith(f"{PAGES}/runs?")
    assert [line.split(" at ")[0] for line in lines] == [
        "Wrote the comment in pull request 7",
        "Wrote the status hwci/sensor-fw",
    ]
    if server.dialect.recording.startswith("github"):
        assert page.read_text() == VERDICT.comment.text


def test_without_a_pull_request_there_is_a_status_alone(server: ForgeServer) -> None:
    push = recorded(server.dialect.recording.split("-")[0] + "-push")
    environ = {**server.dialect.environ(server.address), **push}
    for name in ("GITHUB_API_URL", "CI_API_V4_URL"):
        environ[name] = server.address
    for name in [name for name in environ if name.startswith("CI_MERGE_REQUEST")]:
        del environ[name]
    job = find_job({}, environ, None, None)
    context = CommandContext(environ, None, lambda: NOON, print, print)
    done = comment(VERDICT, job, None, context, summary=False)

    assert (done, server.comments, job.pull) == (Done(), [], None)
    assert list(server.statuses) == [job.value("sha")]


def test_a_comment_that_is_refused_leaves_the_status(server: ForgeServer) -> None:
    server.faults = [(403, None)]
    done, _ = commented(server, VERDICT)

    [message] = done.messages
    assert message.what == "The comment in pull request 7 was not written"
    assert "answers 403" in message.cause
    assert "HWCI_FORGE_TOKEN" in message.fix
    assert server.dialect.sha in server.statuses


@pytest.mark.parametrize("token", [TOKEN, f"{TOKEN}\nX-Evil: 1", "t\u20acken", "wrong"])
def test_a_token_is_never_shown(server: ForgeServer, token: str) -> None:
    if token == TOKEN:
        server.faults = [(403, None)] * 2
    done, lines = commented(server, VERDICT, HWCI_FORGE_TOKEN=token)

    assert len(done.messages) == 2
    shown = "\n".join([*lines, *(line for message in done.messages for line in message.lines())])
    assert TOKEN not in shown
    assert token not in shown or token == "wrong"


def test_without_a_token_nothing_is_asked(server: ForgeServer) -> None:
    done, _ = commented(server, VERDICT, HWCI_FORGE_TOKEN=" ")

    [message] = done.messages
    assert "HWCI_FORGE_TOKEN" in message.cause
    assert "is not set, or empty" in message.cause
    assert server.asked == []


def test_the_token_for_any_forge_counts_before_that_of_the_job(github: ForgeServer) -> None:
    commented(github, VERDICT, GITHUB_TOKEN="another")

    assert len(github.comments) == 1


def test_a_person_may_name_the_pull_request(github: ForgeServer) -> None:
    done, _ = commented(github, VERDICT, pull=8)

    assert ("GET", "/repos/acme/firmware/issues/8/comments") in github.asked
    assert len(done.messages) == 1


def test_a_job_of_no_known_forge_is_told_so() -> None:
    environ = recorded("jenkins-change")
    context = CommandContext(environ, None, lambda: NOON, print, print)
    done = comment(VERDICT, find_job({}, environ, None, None), None, context, summary=False)

    assert "in jobs of Gitea, GitHub and GitLab" in done.messages[0].cause


@pytest.mark.parametrize("name", NAMES)
def test_a_job_knows_the_number_of_its_pull_request(name: str) -> None:
    pulls = {
        "github-pull-request": 7,
        "github-fork": 7,
        "github-merged": 7,
        "github-dropped": 7,
        "gitlab-merge-request": 7,
        "gitlab-child-of-merge-request": 7,
        "gitlab-fork": 7,
    }

    assert find_job({}, recorded(name), None, None).pull == pulls.get(name)
