# SPDX-License-Identifier: Apache-2.0
"""Where a database is, and what stands beside it."""

from pathlib import Path

import pytest

from hwci.server.app import serving
from hwci.server.errors import SettingsError, StorageError
from hwci.server.settings import Settings
from hwci.server.storage.location import MEMORY, Location
from hwci.server.storage.opening import missing_steps


def test_a_file_has_its_key_and_its_socket_beside_it_whatever_link_names_it(
    tmp_path: Path,
) -> None:
    file, link = tmp_path / "hwci.db", tmp_path / "link"
    link.symlink_to(file)
    for name in (file, link):
        found = Location(str(name))
        assert found.file == file
        assert found.key_file == tmp_path / "hwci.db.key"
        assert found.socket is not None
        assert found.shown == str(name)


@pytest.mark.parametrize("written", [MEMORY, "postgresql://host/hwci"])
def test_a_missing_file_has_no_files_beside_it(written: str) -> None:
    found = Location(written)

    assert (found.file, found.key_file, found.socket) == (None, None, None)
    assert found.shown == written


@pytest.mark.parametrize("places", ["host:5432", "a.b,c:5433", "[::1]:5432", ""])
def test_hosts_and_ports_behind_an_at_sign_are_shown(places: str) -> None:
    assert Location(f"postgresql://ada@{places}/hwci").shown == f"postgresql://{places}/hwci"


@pytest.mark.parametrize("secret", ["ada:secret@", "ada:a@b@", "ada:se/cret@", "ada@", "@"])
def test_an_address_is_shown_without_its_secrets(secret: str) -> None:
    written = f"postgresql://{secret}host:5432/hwci?password=secret"

    assert Location(written).shown == "postgresql://host:5432/hwci"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("postgresql:/ada:secret@host/hwci", "postgresql:/host/hwci"),
        ("postgresql:ada:secret@host", "postgresql:host"),
        ("postgresql://ada:se?cret@host/hwci", "postgresql://…"),
        ("postgresql://ada:secret", "postgresql://…"),
        ("postgresql://ada:secret/hwci", "postgresql://…"),
        ("postgresql://host:5432,ada:secret/hwci", "postgresql://…"),
        ("postgresql://ada:12345", "postgresql://…"),
        ("postgresql://ada:12/secret", "postgresql://…"),
        ("postgresql://host,ada:12345/hwci", "postgresql://…"),
        ("postgresql://[::1]/hwci", "postgresql://[::1]/hwci"),
        ("postgresql://host/hwci?user=ada&password=s@ecret", "postgresql://…"),
        ("host=db.example password=secret", "parameters"),
        ("password = 'se://cret' host=db.example", "parameters"),
    ],
)
def test_an_address_in_a_wrong_form_is_no_file_and_shows_no_secret(
    written: str, shown: str
) -> None:
    found = Location(written)

    assert found.file is None
    assert found.shown == shown
    assert found.repeated == "ADDRESS"
    with pytest.raises(StorageError) as refused:
        missing_steps(written)
    assert "cret" not in str(refused.value)


def test_a_file_may_be_named_like_anything_else() -> None:
    for written in ("user.db", "C:/hwci.db", "a/host=1.db", "postgresql.db"):
        assert Location(written).file is not None
        assert Location(written).repeated == written


@pytest.mark.parametrize("written", ["hwci.db", "memory:", "/var/lib/postgresql/hwci.db"])
def test_what_is_no_server_has_no_address_with_sessions(written: str) -> None:
    with pytest.raises(SettingsError, match=f"HWCI_DATABASE_SESSION .* {written}") as refused:
        Location(written, session_address="postgresql://ada:hunter2@db/hwci")
    assert "hunter2" not in str(refused.value)


async def test_a_server_with_a_file_and_an_address_with_sessions_does_not_start(
    tmp_path: Path,
) -> None:
    database = tmp_path / "hwci.db"
    settings = Settings(database=str(database), database_session="postgresql://db/hwci", port=0)
    with pytest.raises(SettingsError, match="unset it"):
        async with serving(settings):
            pass
    assert not database.exists()
