# SPDX-License-Identifier: Apache-2.0
"""Who has an answer already is told so, and only then (contract, "Everywhere"; ADR 0004)."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.vocabulary import ReviewAction, Role
from hwci.engine.facts import Report, StoredReview
from hwci.engine.history import Scope
from hwci.server.clock import system_clock
from hwci.server.errors import HwciServerError
from hwci.server.routes.table import ROUTES
from hwci.server.security.tokens import Claims
from hwci.server.services.access import Member
from hwci.server.services.analysis.benches import Benches
from hwci.server.services.analysis.bisection import Bisections
from hwci.server.services.analysis.causes import Causes
from hwci.server.services.analysis.commits import Commits
from hwci.server.services.analysis.explanations import Explanations
from hwci.server.services.analysis.flaky_tests import FlakyTests
from hwci.server.services.analysis.incidents import Incidents
from hwci.server.services.analysis.lost_boards import LostBoards
from hwci.server.services.analysis.merges import MergeAnalysis
from hwci.server.services.analysis.page_figures import PageFigures
from hwci.server.services.analysis.quarantine import Quarantine
from hwci.server.services.analysis.tests import Tests
from hwci.server.services.analysis.trends import Trends
from hwci.server.services.ci_metrics.decisions import Decisions
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Membership
from hwci.wire.codec import adapter
from hwci.wire.endpoint import Endpoint
from tests.server.few_runs import run, send
from tests.server.storage.examples import ACME, ADA, NOON, REPORT
from tests.server.storage.histories import BOXES, EVER, REPOS, SHAS, SUITES, TESTS, HistoryDraw
from tests.support.asking import Reply, ask, bearer
from tests.support.running import RunningServer, running_in_thread
from tests.support.soak import rounds

MEMBER = Member(ADA, Membership(ACME, Role.MEMBER, NOON), Claims(ADA.id, UUID(int=1)))
TAGGED = [route for route in ROUTES if route.tagged]
PATHS = [route.path.removeprefix("/api/orgs/{orgId}/") for route in TAGGED]
SCOPES: list[dict[str, str]] = [{}, {"repo_key": "fw"}, {"repo_key": "fw", "suite": "hil"}]
OF_ONE = {"repo_key": REPOS, "suite": SUITES, "box_key": BOXES, "test_id": TESTS, "sha": SHAS}
"""What a question about one product, box, test or commit has to name."""
SERVICES: Any = (
    Benches,
    Bisections,
    Causes,
    Commits,
    Explanations,
    FlakyTests,
    Incidents,
    LostBoards,
    MergeAnalysis,
    Metrics,
    PageFigures,
    Quarantine,
    Tests,
    Trends,
)
_BOX, _TEST = "&boxKey=bench-1", "&repoKey=acme/firmware&suite=hardware&testId=boot"
_END = "&asOf=2026-02-01T00:00:00Z"
NEEDED = {
    "ci-analysis/box": _BOX,
    "ci-analysis/bisection": _TEST,
    "ci-analysis/commit": f"&repoKey=acme/firmware&sha={'b' * 40}",
    "ci-analysis/test": _TEST,
    # What these tell moves with every moment.
    "ci-analysis/flaky-tests/history": _END,
    "ci-analysis/times-to-fix": _END,
    "ci-analysis/digest": _END,
}


class Asking:
    """Asks a database, and sees that a tag means one answer wherever it was seen before."""

    def __init__(
        self,
        storage: Storage,
        draw: random.Random,
        routes: Sequence[Endpoint],
        seen: dict[str, str],
    ) -> None:
        self.storage = storage
        self._routes = routes
        self._draw = draw
        self._seen = seen
        self._now = NOON
        self._services = {kind.__name__: kind(storage, lambda: self._now) for kind in SERVICES}
        self._decisions = Decisions(storage, system_clock)
        self.known = 0

    async def ask(self) -> None:
        """Ask a question at a moment at which, or beside which, a run may have started."""
        draw = self._draw
        beside = timedelta(microseconds=draw.choice((-1, 0, 1)))
        self._now = NOON + timedelta(hours=draw.randrange(28)) + beside
        route = draw.choice(self._routes)
        asked = {"days": draw.choice((1, 2)), **draw.choice(SCOPES)}
        assert route.query is not None
        assert route.answer is not None
        for name, values in OF_ONE.items():
            field = route.query.model_fields.get(name)
            if field is not None and field.is_required():
                asked[name] = draw.choice(values)
        query = route.query.model_validate(asked, by_name=True, by_alias=False)
        question = f"{route.path} {asked}"
        handler = ROUTES[route]
        owner = self._services[handler.__qualname__.partition(".")[0]]
        show = partial(handler, owner, MEMBER, query)
        tags = Tags(question)
        try:
            answer = await show(tags)
        except HwciServerError:
            return  # not named yet: an error has no tag
        body = json.dumps(without_ends(adapter(route.answer).dump_python(answer, mode="json")))
        assert tags.tag is not None
        self.known += tags.tag in self._seen
        assert self._seen.setdefault(tags.tag, body) == body
        if draw.random() < 0.2:
            await self._decisions.make()  # changes no answer
        again = Tags(question, {tags.tag})
        assert await show(again) is None


def without_ends(answer: Any) -> Any:
    """Return an answer without the ends of periods and days, which move while it is the same."""
    if isinstance(answer, dict):
        return {
            key: without_ends(part) for key, part in answer.items() if key not in {"from", "to"}
        }
    return [without_ends(part) for part in answer] if isinstance(answer, list) else answer


def some_write(draw: HistoryDraw) -> Callable[[Writer], None]:
    """Draw any write that a history can see."""

    def review(writer: Writer) -> None:
        failures = sorted(writer.history(ACME.id).failures(Scope(), EVER), key=lambda one: one.id)
        for failure in draw.random.sample(failures, min(1, len(failures))):
            action = draw.random.choice(list(ReviewAction))
            word = StoredReview(failure.key, Review(action, Actor(ADA.id, "Ada"), NOON))
            writer.put_review(ACME.id, failure.id, word)

    def reset(writer: Writer) -> None:
        writer.drop_reviews(ACME.id, list(writer.history(ACME.id).reviews())[:1])

    sent, announcement, config = draw.next_report(), draw.announcement(), draw.config()
    others: list[Callable[[Writer], None]] = [
        lambda w: w.announce(ACME.id, announcement, NOON),
        lambda w: w.put_config(ACME.id, config, NOON),
        review,
        reset,
        lambda w: w.rebuild(ACME.id),
    ]
    usual: list[Callable[[Writer], None]] = [partial(put, sent)] * 5
    return draw.random.choice(usual + others)


def put(sent: Report, writer: Writer) -> None:
    writer.put_report(ACME.id, sent, NOON)


@pytest.mark.parametrize("seed", range(rounds(3, 100)))
async def test_one_tag_means_one_answer_also_when_a_copy_goes_on_by_itself(
    seed: int, tmp_path: Path
) -> None:
    seen: dict[str, str] = {}
    draw = HistoryDraw(seed)
    async with AsyncExitStack() as stack:

        async def opened(name: str) -> Asking:
            storage = open_storage(tmp_path / name)
            stack.push_async_callback(storage.close)
            return Asking(storage, draw.random, TAGGED[seed % 3 :: 3], seen)

        databases = [await opened("first.db")]
        # A repository and a product that nothing names could not be asked for.
        await databases[0].storage.write(partial(put, replace(REPORT, repo_key="fw", suite="hil")))
        for number in range(12):
            for one in databases:
                await one.storage.write(some_write(draw))
                for _ in range(40):
                    await one.ask()
            if number == 5:
                await databases[0].storage.backup(tmp_path / "copy.db")
                databases.append(await opened("copy.db"))
    assert all(one.known > 10 for one in databases)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path) as found:
        send(found, run("b", 1, "fail"))
        send(found, run("c", 2, "pass"))
        yield found


def get(server: RunningServer, path: str, tag: str = "") -> Reply:
    known = [("If-None-Match", tag)] if tag else []
    asked = f"/api/orgs/{server.org_id}/{path}?days=3650{NEEDED.get(path, '')}"
    return ask(server.url, "GET", asked, bearer(server.member_token), *known)


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_that_the_caller_has_is_not_sent_again(server: RunningServer, path: str) -> None:
    first = get(server, path)
    tag = first.headers["etag"]
    again = get(server, path, tag)

    assert (first.status, again.status, again.body) == (200, 304, b"")
    assert tag.startswith('W/"')
    assert again.headers["etag"] == tag
    assert get(server, path, f'"other", {tag}').status == 304
    for other in ('"other"', "no tag at all", "*"):
        assert get(server, path, other).status == 200
    send(server, run("d", 3, "pass"))
    assert get(server, path, tag).status == 200


def test_a_review_changes_the_causes_of_the_page_and_its_tag(server: RunningServer) -> None:
    path = "ci-analysis/page"
    before = get(server, path)
    assert before.json["realBugCauses"]["items"] == []

    review = reviewed(server, "confirm", None)["review"]

    confirmed = get(server, path, before.headers["etag"])
    (cause,) = confirmed.json["realBugCauses"]["items"]
    assert cause["failures"][0]["review"] == review
    assert get(server, path, confirmed.headers["etag"]).status == 304
    reviewed(server, "reset", review["at"])
    reset = get(server, path, confirmed.headers["etag"])
    assert reset.json["realBugCauses"] == before.json["realBugCauses"]


def reviewed(server: RunningServer, action: str, seen: str | None) -> Any:
    """Review the one failure; return it as it is then."""
    home, token = f"/api/orgs/{server.org_id}", bearer(server.token)
    (failure,) = ask(server.url, "GET", f"{home}/ci-failures?days=3650", token).json["items"]
    body = {"reviews": [{"failureId": failure["id"], "action": action, "seenReviewAt": seen}]}
    reply = ask(server.url, "POST", f"{home}/ci-reviews", token, json_body=body)
    assert reply.status == 200, reply
    return reply.json["items"][0]


def test_a_caller_without_access_is_refused_whatever_tag_it_sends(server: RunningServer) -> None:
    tag = ("If-None-Match", get(server, "ci-metrics").headers["etag"])
    path, other = (f"/api/orgs/{org}/ci-metrics?days=3650" for org in (server.org_id, uuid4()))

    assert ask(server.url, "GET", path, tag).status == 401
    assert ask(server.url, "GET", other, bearer(server.member_token), tag).status == 404
