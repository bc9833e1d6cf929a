# SPDX-License-Identifier: Apache-2.0
"""A figure of the metrics page that takes too long is left out, and the others are answered (ADR
0002).
"""

from typing import Any

import pytest

from hwci.analysis.outcomes import RecordedRuns
from hwci.server.services import shared_answers
from hwci.server.services.analysis import page_figures
from hwci.server.services.analysis.asking import Asked
from hwci.server.storage.postgresql.store import PostgresqlStorage
from hwci.server.storage.sqlite.store import SqliteStorage
from tests.server.many_rows import tell
from tests.support.asking import ask, bearer
from tests.support.running import RunningServer

SECONDS = 2.0  # for an answer without any figure, in place of nine
ASKED = "asOf=2026-03-20T00:00:00Z&days=60"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for driver in (SqliteStorage, PostgresqlStorage):
        defaults = driver.read.__kwdefaults__
        assert defaults is not None
        monkeypatch.setitem(defaults, "seconds", SECONDS)


def page_of(server: RunningServer) -> Any:
    path = f"/api/orgs/{server.org_id}/ci-analysis/page?{ASKED}"
    return ask(server.url, "GET", path, bearer(server.token))


def endless(about: Asked | RecordedRuns, *_: object) -> Any:
    """Look at the clock as long work does, and never end."""
    history = about.history if isinstance(about, Asked) else about
    while True:
        history.check_time()


def test_a_figure_that_takes_too_long_is_named_and_null_and_the_others_are_there(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(server)
    monkeypatch.setattr(shared_answers, "HELD_SECONDS", 0)
    whole = page_of(server)
    monkeypatch.setattr(page_figures, "_flaky", endless)
    monkeypatch.setattr(page_figures, "tiles_by_day", endless)

    page = page_of(server)

    assert page.status == 200
    assert page.json == {
        **whole.json,
        "days": None,
        "flakyTests": None,
        "notComputed": ["days", "flakyTests"],
    }
    assert "etag" in {name.lower() for name in whole.headers}
    assert "etag" not in {name.lower() for name in page.headers}


@pytest.mark.usefixtures("hurried")
def test_a_page_without_any_figure_is_refused(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        *("tiles_by_day", "trends", "read_classified"),
        *("unchecked_of", "_flaky", "_failing"),
    ):
        monkeypatch.setattr(page_figures, name, endless)

    page = page_of(server)

    assert page.status == 503
    assert "fewer days or one product" in page.json["message"]
