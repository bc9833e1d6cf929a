# SPDX-License-Identifier: Apache-2.0
"""Where a database is, and what stands beside it."""

from pathlib import Path

import pytest

from hwci.server.storage.location import MEMORY, Location


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
def test_what_is_no_file_has_nothing_beside_it(written: str) -> None:
    found = Location(written)

    assert (found.file, found.key_file, found.socket) == (None, None, None)
    assert found.shown == written


@pytest.mark.parametrize("secret", ["ada:secret@", "ada:a@b@", "ada@", ""])
def test_an_address_is_shown_without_its_secrets(secret: str) -> None:
    written = f"postgresql://{secret}host:5432/hwci?password=secret"

    assert Location(written).shown == "postgresql://host:5432/hwci"
