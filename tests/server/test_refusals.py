# SPDX-License-Identifier: Apache-2.0
"""What the server says when it cannot: too much work, no database, an error that nobody meant."""

import asyncio
from pathlib import Path

import pytest
from passlib.hash import argon2

from hwci.server import errors
from hwci.server.app import serving
from hwci.server.http import refusals
from hwci.server.http.responses import error_answer
from hwci.server.security import passwords
from hwci.server.settings import Settings
from hwci.server.storage.opening import open_storage
from tests.support.asking import ask


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (refusals.InvalidRequestError([]), 400),
        (errors.UnauthenticatedError("x"), 401),
        (errors.ForbiddenError("x"), 403),
        (errors.NotFoundError("x"), 404),
        (errors.ConflictError("x"), 409),
        (errors.ClashError("email"), 409),
        (refusals.TooLargeError(1), 413),
        (refusals.UnsupportedTypeError("x"), 415),
        (errors.OverloadedError("x"), 503),
        (errors.StorageBusyError("x", "y"), 503),
        (errors.SettingsError("x", "y"), 500),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_has_one_status(error: errors.HwciServerError, status: int) -> None:
    body = refusals.error_body(error)

    assert (body.status_code, body.error) == (status, refusals.PHRASES[status])


def test_an_error_that_no_request_should_meet_leaks_nothing() -> None:
    answer = error_answer(errors.SettingsError("/etc/secret", "y"))

    assert isinstance(answer.body, bytes)
    assert b"/etc/secret" not in answer.body


@pytest.mark.parametrize(
    ("cause", "fix"),
    [
        ("The disk is full", "make room"),
        ("a", "b"),
        ("The file is 'a; b'", "name another; or wait"),
    ],
)
def test_a_fixable_error_has_its_fix_in_one_line(cause: str, fix: str) -> None:
    fault = errors.StorageError(cause, fix)

    assert (fault.cause, fault.fix, str(fault)) == (cause, fix, f"{cause}; {fix}")
    assert str(errors.StorageError.read(str(fault))) == str(fault)


@pytest.mark.parametrize("text", ["", "; ", "a", "a; ", "; b"])
def test_a_text_that_names_no_fix_is_read_whole(text: str) -> None:
    fault = errors.StorageError.read(text)

    assert (fault.cause, fault.fix) == (text, "try again in a moment")


async def test_without_its_database_the_server_lives_and_is_not_ready(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(database=str(tmp_path / "hwci.db"), port=0)
    storage = open_storage(settings.database)
    async with serving(settings, storage=storage) as server:
        await storage.close()
        alive = await asyncio.to_thread(ask, server.url, "GET", "/healthz")
        ready = await asyncio.to_thread(ask, server.url, "GET", "/readyz")

    assert alive.status == 200
    assert ready.error == (503, refusals.STORAGE_SENTENCE)
    assert ready.headers["retry-after"] == "5"
    assert str(tmp_path).encode() not in ready.body
    assert f"request {ready.headers['x-request-id']}: The database {tmp_path}" in caplog.text


@pytest.mark.usefixtures("real_passwords")
async def test_sign_ins_do_not_pile_up_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "WAITING_MAX", 2)
    hasher = passwords.Passwords()
    try:
        results = await asyncio.gather(
            *(hasher.matches("x", None) for _ in range(3)), return_exceptions=True
        )
        assert await hasher.matches("x", None) is False
    finally:
        hasher.close()

    assert [type(result) for result in results] == [bool, bool, errors.OverloadedError]


@pytest.mark.usefixtures("real_passwords")
async def test_a_password_is_kept_as_argon2id_and_an_unknown_user_costs_the_same() -> None:
    hasher = passwords.Passwords()
    try:
        kept = await hasher.hash("a password of mine")
        again = await hasher.hash("a password of mine")
        assert await hasher.matches("a password of mine", kept)
        assert not await hasher.matches("a password of mind", kept)
    finally:
        hasher.close()

    assert kept != again
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    real, nobodys = (argon2.from_string(text) for text in (kept, passwords._DUMMY_HASH))
    for name in ("memory_cost", "rounds", "parallelism", "type"):
        assert getattr(real, name) == getattr(nobodys, name)
    assert len(real.checksum) == len(nobodys.checksum)
