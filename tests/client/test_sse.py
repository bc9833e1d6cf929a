# SPDX-License-Identifier: Apache-2.0
"""Server-sent events are read as the WHATWG describes them, however their bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hwci.client.following import EVENT_BYTES_MAX, EventStream, ServerSentEvent


def read(*chunks: bytes) -> list[ServerSentEvent]:
    stream = EventStream()
    return [event for chunk in chunks for event in stream.feed(chunk)]


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (b"data: a\ndata: b\ndata: c\n\n", [(None, "message", "a\nb\nc")]),
        (
            b": words\n\ndata: one\nid: 1\n\ndata:two\nid\n\ndata:  three\n\n",
            [("1", "message", "one"), ("", "message", "two"), ("", "message", " three")],
        ),
        (b"data\n\ndata\ndata\n\ndata:", [(None, "message", ""), (None, "message", "\n")]),
        (b"data:test\n\ndata: test\n\n", [(None, "message", "test")] * 2),
        (b"event: a\ndata: 1\n\ndata: 2\n\n", [(None, "a", "1"), (None, "message", "2")]),
        (b"event: a\n\ndata: 2\n\n", [(None, "message", "2")]),
        (b"id: 7\n\ndata: x\n\n", [("7", "message", "x")]),
        (b"id: 7\0\ndata: x\n\n", [(None, "message", "x")]),
        (b"\xef\xbb\xbfdata: x\n\n\xef\xbb\xbfdata: y\n\n", [(None, "message", "x")]),
        (b"data: \xff\n\n", [(None, "message", "\ufffd")]),
        ("data: a\u2028b\u0085c\n\n".encode(), [(None, "message", "a\u2028b\u0085c")]),
        (b"strange: x\ndata: y\n\n", [(None, "message", "y")]),
        (b"data: never ended\n", []),
    ],
)
def test_a_stream_is_read_as_it_is_written(
    text: bytes, events: list[tuple[str | None, str, str]]
) -> None:
    for ending in (b"\n", b"\r\n", b"\r"):
        written = text.replace(b"\n", ending)
        assert read(written) == [ServerSentEvent(*event) for event in events]
        assert read(*(written[i : i + 1] for i in range(len(written)))) == read(written)


@given(
    some.lists(some.sampled_from(["data: a", "data:", "id: 1", "event: e", ":", "", "retry: 5"])),
    some.sampled_from([b"\n", b"\r\n", b"\r"]),
    some.lists(some.integers(0, 200), max_size=20),
)
def test_where_the_bytes_are_cut_does_not_matter(
    lines: list[str], ending: bytes, cuts: list[int]
) -> None:
    text = b"".join(line.encode() + ending for line in lines)
    places = [0, *sorted(cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(places)]

    assert read(*chunks) == read(text)


def test_a_block_without_data_moves_the_place_and_what_is_cut_off_does_not() -> None:
    stream = EventStream()
    assert list(stream.feed(b"retry: 1500\nid: 41\n\n")) == []
    assert (stream.id, stream.retry) == ("41", 1500)

    assert list(stream.feed(b"id: 42\ndata: x\n")) == []
    assert stream.id == "41"
    list(stream.feed(b"retry: soon\n\n"))
    assert (stream.id, stream.retry) == ("42", 1500)


@pytest.mark.parametrize("line_end", [b"", b"\ndata:"])
def test_an_event_without_an_end_is_not_kept_for_ever(line_end: bytes) -> None:
    piece = b"data: " + b"x" * (EVENT_BYTES_MAX // 2) + line_end

    with pytest.raises(ValueError, match="more than"):
        read(piece, piece, piece)
