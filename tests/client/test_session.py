# SPDX-License-Identifier: Apache-2.0
"""A session that is kept: by threads and processes at once, through crashes and lost answers."""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from hwci.client import AsyncClient, Client, Session, calls
from hwci.client.errors import SessionEndedError, SessionError, SessionFileError, UnauthorizedError
from hwci.client.session import ARRIVES_WITHIN_S
from hwci.client.session_file import Changing, Profile, SessionFile, own_session_file
from hwci.server.storage.sqlite.connections import open_reader
from tests.support.answering import Answer, answering
from tests.support.running import EMAIL, PASSWORD, RunningServer, running_in_thread
from tests.support.sign_ins import put
from tests.support.windows import MSVCRT

KEPT = Profile("https://kept.example", "ada@example.org", "kept-token", "refresh", 4e9)


SETTINGS = re.compile("HWCI_|XDG_|hwci login")
"""What advice about the file of the command line names."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with running_in_thread(folder) as running:
        yield running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "sessions.json"


@pytest.fixture(params=["posix", "windows"])
def locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "windows":
        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", MSVCRT)


def known() -> tuple[str, str]:
    return EMAIL, PASSWORD


def begun(server: RunningServer, path: Path) -> Session:
    """Return a session that has begun, and whose owner is not asked again."""
    Session(server.url, path, login=known).token()
    return Session(server.url, path)


def change(session: Session, **changed: Any) -> Profile:
    kept = session.kept()
    assert kept is not None
    put(session.file, session.name, replace(kept, **changed))
    return kept


def refreshed(server: RunningServer) -> int:
    reader = open_reader(server.database)
    ((count,),) = reader.rows("SELECT count(*) FROM refresh_token WHERE used_at IS NOT NULL")
    reader.close()
    return int(count)


def test_a_session_begins_once_and_lasts(server: RunningServer, path: Path) -> None:
    asked: list[str] = []

    def login() -> tuple[str, str]:
        asked.append("login")
        return known()

    for _ in range(2):
        session = Session(server.url, path, login=login)
        with Client(server.url, token=session) as client:
            assert client.send(calls.me()).user.email == EMAIL
        before = change(session, expires_at=0.0)
        session.token()
        kept = session.kept()
        assert kept is not None
        assert kept.refresh_token != before.refresh_token
        assert kept.device_token == before.device_token is not None

    assert asked == ["login"]


@pytest.mark.usefixtures("locks")
def test_threads_renew_a_session_once(server: RunningServer, path: Path) -> None:
    session = begun(server, path)
    change(session, expires_at=0.0)
    before = refreshed(server)

    with Client(server.url, token=session) as client, ThreadPoolExecutor(8) as pool:
        emails = list(pool.map(lambda _: client.send(calls.me()).user.email, range(24)))

    assert emails == [EMAIL] * 24
    assert refreshed(server) == before + 1


@pytest.mark.usefixtures("locks")
def test_tasks_renew_a_session_once(server: RunningServer, path: Path) -> None:
    session = begun(server, path)
    change(session, expires_at=0.0)
    before = refreshed(server)

    async def ask() -> list[str]:
        async with AsyncClient(server.url, token=session) as client:
            answers = await asyncio.gather(*(client.send(calls.me()) for _ in range(8)))
        return [answer.user.email for answer in answers]

    assert asyncio.run(ask()) == [EMAIL] * 8
    assert refreshed(server) == before + 1


def test_a_token_that_is_refused_before_its_time_is_replaced(
    server: RunningServer, path: Path
) -> None:
    session = begun(server, path)

    async def follow() -> None:
        async with (
            AsyncClient(server.url, token=session) as client,
            client.follow(server.org_id),
        ):
            pass

    async def ask() -> None:
        async with AsyncClient(server.url, token=session) as client:
            await client.send(calls.me())

    with Client(server.url, token=session) as client:
        change(session, access_token="of-another-key")
        client.send(calls.me())
        change(session, access_token="of-another-key")
        with client.follow(server.org_id):
            pass
    change(session, access_token="of-another-key")
    asyncio.run(ask())
    change(session, access_token="of-another-key")
    asyncio.run(follow())


def test_a_token_that_stays_refused_is_an_error(path: Path) -> None:
    put(SessionFile(path), "default", KEPT)
    renewed = {"accessToken": "kept-token", "refreshToken": "r2", "tokenType": "Bearer"}
    pair = Answer(200, json.dumps({**renewed, "expiresIn": 900}).encode())
    refusal = Answer(401)
    with answering(refusal, pair) as other:
        session = Session(other.url, path)
        put(session.file, "default", replace(KEPT, url=other.url))
        with pytest.raises(UnauthorizedError), Client(other.url, token=session) as client:
            client.send(calls.me())
        assert len(other.received) == 2


LOST = [Answer(reset=True), Answer(500)]


@pytest.mark.parametrize("answer", LOST)
def test_a_renewal_whose_answer_was_lost_is_not_sent_again(path: Path, answer: Answer) -> None:
    with answering(answer) as lossy:
        session = Session(lossy.url, path)
        put(session.file, "default", replace(KEPT, url=lossy.url, expires_at=0.0))
        for why in ("could not be renewed", "was being renewed, and no answer was kept"):
            with pytest.raises(SessionEndedError, match=why):
                session.token()
        assert len(lossy.received) == 1


def test_a_crash_within_a_renewal_does_not_lose_the_session_of_a_program(
    server: RunningServer, path: Path
) -> None:
    session = begun(server, path)
    change(session, expires_at=0.0, refresh_token=None)  # as a kill after the request leaves it

    with pytest.raises(SessionEndedError, match="Sign in again"):
        session.token()
    again = Session(server.url, path, login=known)
    with Client(server.url, token=again) as client:
        assert client.send(calls.me()).user.email == EMAIL
        assert session.token() == again.token()


def test_a_sign_in_is_shown_to_its_own_server_only(server: RunningServer, path: Path) -> None:
    put(SessionFile(path), "default", KEPT)

    with pytest.raises(SessionEndedError, match="'default' keeps no sign-in at"):
        Session(server.url, path, profile="default").token()
    assert Session("https://kept.example/", path).token() == "kept-token"


@pytest.mark.parametrize("shell", [Client, AsyncClient])
def test_a_session_signs_no_calls_to_another_server(
    shell: type[Client | AsyncClient], path: Path
) -> None:
    session = Session("https://kept.example", path)

    for other in ("http://kept.example", "https://kept.example/below", "https://other.example"):
        with pytest.raises(SessionError, match=f"to https://kept.example only.*of {other}"):
            shell(other, token=session)
    shell("https://KEPT.example:443/", token=session)


class Overtaken(SessionFile):
    """Just before each change another process signs in, at another server."""

    @contextmanager
    def changing(self) -> Iterator[Changing]:
        put(SessionFile(self.path), "default", KEPT)
        with super().changing() as file:
            yield file


def test_first_sign_ins_at_two_servers_at_once_both_stay(
    server: RunningServer, path: Path, tmp_path: Path
) -> None:
    with Client(server.url) as client:
        answer = client.send(calls.login(EMAIL, PASSWORD))

    Session(server.url, Overtaken(path), login=known).token()
    kept_as = Session(server.url, Overtaken(tmp_path / "kept.json")).keep(answer, time.time())

    assert kept_as == urlsplit(server.url).netloc
    for file in (path, tmp_path / "kept.json"):
        kept = SessionFile(file).read().profiles
        assert [kept[name].url for name in ("default", kept_as)] == [KEPT.url, server.url]


def test_what_fails_in_the_login_of_a_program_is_its_own(path: Path) -> None:
    def login() -> tuple[str, str]:
        raise FileNotFoundError("password.txt")

    with pytest.raises(FileNotFoundError):
        Session("https://kept.example", path, login=login).token()


def test_an_ended_session_has_ended_at_the_server(server: RunningServer, path: Path) -> None:
    session = begun(server, path)
    token = session.token()

    assert session.end()
    assert not session.end()
    with Client(server.url, token=token) as client, pytest.raises(UnauthorizedError):
        client.send(calls.me())
    with pytest.raises(SessionEndedError, match="You are not signed in"):
        session.token()


def test_a_session_ends_no_sign_in_at_another_server(server: RunningServer, path: Path) -> None:
    token = begun(server, path).token()

    assert not Session("https://kept.example", path, profile="default").end()
    with Client(server.url, token=token) as client:
        assert client.send(calls.me()).user.email == EMAIL
    assert begun(server, path).token() == token


def test_a_token_is_renewed_before_it_ends_on_its_way(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    too_late = 1_000 - ARRIVES_WITHIN_S
    put(SessionFile(path), "default", replace(KEPT, refresh_token=None, expires_at=1_000))
    session = Session(KEPT.url, path)

    monkeypatch.setattr(time, "time", lambda: too_late - 0.001)
    assert session.token() == "kept-token"
    monkeypatch.setattr(time, "time", lambda: too_late)
    with pytest.raises(SessionEndedError):
        session.token()


def test_a_file_that_others_can_read_is_used_with_a_warning(path: Path) -> None:
    put(SessionFile(path), "default", KEPT)
    path.chmod(0o644)

    with pytest.warns(UserWarning, match="its mode is 0644"):
        assert Session(KEPT.url, path).token() == "kept-token"


# The file


def test_a_store_of_sign_ins_is_its_owners_alone(path: Path) -> None:
    store = SessionFile(path)
    put(store, "default", KEPT)
    put(store, "work", KEPT)

    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in store.path.parent.iterdir()}
    assert modes == {"sessions.json": 0o600, "sessions.lock": 0o600}
    assert set(store.read().profiles) == {"default", "work"}


def test_a_forgotten_profile_leaves_the_others(path: Path) -> None:
    store = SessionFile(path)
    put(store, "default", KEPT)
    put(store, "work", KEPT)

    with store.changing() as file:
        file.drop("default")

    assert set(store.read().profiles) == {"work"}


@pytest.mark.parametrize("content", [b"{half", b"\xff", b"[]", b'{"format": 1, "profiles": []}'])
def test_a_damaged_store_is_named_and_left_alone(path: Path, content: bytes) -> None:
    store = SessionFile(path)
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    store.path.chmod(0o600)

    with pytest.raises(SessionFileError, match=r"sessions\.json"):
        put(store, "default", KEPT)

    assert store.path.read_bytes() == content


def test_a_file_may_be_named_by_a_str(path: Path) -> None:
    put(SessionFile(path), "default", KEPT)

    assert Session(KEPT.url, str(path)).token() == "kept-token"


@pytest.mark.parametrize("content", [None, "{half", '{"format": 2}'])
def test_only_advice_about_the_file_of_the_commands_names_their_settings(
    tmp_path: Path, content: str | None
) -> None:
    fixes = []
    for file in (
        own_session_file({"XDG_CONFIG_HOME": str(tmp_path)}),
        SessionFile(tmp_path / "program.json"),
    ):
        file.path.parent.mkdir(exist_ok=True)
        file.path.mkdir() if content is None else file.path.write_text(content)
        file.path.chmod(0o700)
        with pytest.raises(SessionFileError) as told:
            file.read()
        fixes.append(told.value.fix)

    assert [bool(SETTINGS.search(fix)) for fix in fixes] == [True, False]


@pytest.mark.usefixtures("locks")
def test_sign_ins_at_the_same_time_all_stay(path: Path) -> None:
    names = [f"profile-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: put(SessionFile(path), name, KEPT), names))

    assert set(SessionFile(path).read().profiles) == set(names)


def test_a_store_of_a_newer_hwci_is_named_and_left_alone(path: Path) -> None:
    store = SessionFile(path)
    store.path.parent.mkdir()
    newer = '{"format": 2, "sign-ins": []}'
    store.path.write_text(newer)
    store.path.chmod(0o600)

    for use in (store.read, lambda: put(store, "default", KEPT)):
        with pytest.raises(SessionFileError, match="newer hwci") as caught:
            use()
        assert "they have format 2, and this one knows 1" in caught.value.reason
    assert store.path.read_text() == newer


def test_fields_that_another_version_added_stay(path: Path) -> None:
    store = SessionFile(path)
    put(store, "default", KEPT)
    content = json.loads(store.path.read_text())
    content["theme"] = "dark"
    content["profiles"]["default"]["org"] = "Acme"
    store.path.write_text(json.dumps(content))

    put(store, "default", replace(KEPT, access_token="new"))
    put(store, "work", KEPT)

    after = json.loads(store.path.read_text())
    assert after["theme"] == "dark"
    assert after["profiles"]["default"]["org"] == "Acme"
    assert store.read().profiles["default"].access_token == "new"


def test_a_store_that_cannot_be_read_or_written_names_the_cause(tmp_path: Path, path: Path) -> None:
    store = SessionFile(path)
    store.path.mkdir(parents=True)
    with pytest.raises(SessionFileError, match="cannot be read") as caught:
        store.read()
    assert caught.value.reason == "Is a directory"

    file = tmp_path / "file"
    file.write_text("")
    fixes = []
    for store in (own_session_file({"XDG_CONFIG_HOME": str(file)}), SessionFile(file / "s.json")):
        with pytest.raises(SessionFileError, match="cannot be written") as caught:
            put(store, "default", KEPT)
        fixes.append(caught.value.fix)
    assert [bool(SETTINGS.search(fix)) for fix in fixes] == [True, False]
