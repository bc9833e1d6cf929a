# SPDX-License-Identifier: Apache-2.0
"""Files that somebody names end: what does not, or holds too much, is refused with its reason."""

import os
from pathlib import Path

import pytest

from hwci.client.files import MEBIBYTE, read_at_most, read_whole


def why(path: Path, most: int) -> str | None:
    with pytest.raises(OSError) as raised:  # noqa: PT011 - the reason is what is compared
        read_whole(path, most)
    return raised.value.strerror


def test_a_file_is_read_whole_up_to_what_it_may_hold(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * MEBIBYTE)

    assert read_whole(path, MEBIBYTE) == b"x" * MEBIBYTE
    assert why(path, MEBIBYTE - 1024) == "it holds more than 1023 KiB"


def test_a_file_of_many_gigabytes_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(2**40)  # a hole, which takes no room

    assert why(path, 2 * MEBIBYTE) == "it holds more than 2 MiB"


def test_a_stream_without_end_is_left() -> None:
    with Path("/dev/zero").open("rb") as file, pytest.raises(OSError, match="more than 1 KiB"):
        read_at_most(file, 1024)


def test_a_pipe_and_a_device_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")

    for name in ("pipe", "zero"):
        assert why(tmp_path / name, MEBIBYTE) == "it is not a file but a pipe or a device"


def test_a_folder_and_a_missing_file_are_named_in_the_words_of_the_system(tmp_path: Path) -> None:
    assert why(tmp_path, 1) == "Is a directory"
    assert why(tmp_path / "no", 1) == "No such file or directory"
