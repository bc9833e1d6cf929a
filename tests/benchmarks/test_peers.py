# SPDX-License-Identifier: Apache-2.0
"""What benchmarks compare is the same: equal histories, and equal answers to the same question."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks import bare, data, frozen
from benchmarks.history import REPORT, SIZES, Body, history
from benchmarks.opened import opened
from benchmarks.pages import NONE, page, second
from benchmarks.peers.engines import PEERS, SqlitePeer
from hwci.server.http.bodies.reading import read_model
from hwci.wire.reports import RunReport

SMALL = SIZES["S"]


@pytest.fixture(scope="module")
def kept() -> Iterator[Path]:
    """Make a folder outside pytest's, which is closed to the user that PostgreSQL runs as."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


def test_a_history_is_the_same_each_time_it_is_made() -> None:
    digests = {_digest(history(SMALL)) for _ in range(2)}

    assert digests == {"41497248b88069e6"}
    assert _digest(history(SMALL, seed=8)) not in digests


def test_a_longer_history_ends_with_the_same_days() -> None:
    shorter, longer = list(history(SMALL)), list(history(replace(SMALL, before=5)))

    assert longer[-len(shorter) + 1 :] == shorter[1:]
    assert len(longer) > len(shorter) + 50


def _digest(bodies: Iterator[Body]) -> str:
    digest = hashlib.sha256()
    for body in bodies:
        digest.update(json.dumps(body).encode())
    return digest.hexdigest()[:16]


LATER = {"board", "log_url"}
"""What a test item may have since the frozen models."""


def test_the_frozen_models_read_what_ours_read() -> None:
    sent = [body for kind, body in history(SMALL) if kind == REPORT][:40]

    assert any(body["changes"] and body["changes"]["base_sha"] for body in sent)
    for body in sent:
        plain = json.dumps(body).encode()
        ours = read_model(plain, RunReport).model_dump(exclude={"tests": {"__all__": LATER}})
        assert frozen.parse(plain).model_dump() == ours
        assert len(bare.Report.model_validate_json(plain).tests) == len(body["tests"])


def test_every_peer_answers_as_we_do(kept: Path) -> None:
    measured = {figure.name: figure.value for figure in page(SMALL, kept, rounds=2)}

    for peer in PEERS.values():
        assert measured[f"Page after a new report, against {peer.name}"] != NONE


def test_what_was_broken_off_is_made_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So are the rows of a peer whose package came later."""
    monkeypatch.setattr(data, "PEERS", {"sqlite": SqlitePeer})
    tiny = replace(SMALL, days=2)
    for kind, step in ((data.Facts, "model_dump_json"), (SqlitePeer, "optimize")):
        with monkeypatch.context() as broken:
            broken.setattr(kind, step, _break_off)
            with pytest.raises(KeyboardInterrupt), data.copied(tiny, kept, peers=True):
                pass

    with data.copied(tiny, kept, peers=True) as made:
        [peer] = made.peers()
        with closing(peer):
            assert peer.execute("SELECT count(*) FROM item") == [(made.facts.items,)]


def _break_off(_: object) -> None:
    raise KeyboardInterrupt


def test_a_second_server_answers_as_the_first(kept: Path) -> None:
    """Otherwise there is no figure."""
    (measured,) = second(SMALL, kept, rounds=1)

    assert float(measured.value) > 0


@pytest.mark.parametrize("shared", [False, True], ids=["SQLite", "PostgreSQL"])
def test_every_page_that_a_person_opens_is_measured_alone_and_by_many(
    kept: Path, *, shared: bool
) -> None:
    measured = opened(replace(SMALL, boxes=3), kept, 1, 2, shared=shared)
    figures = {figure.name: figure.value for figure in measured}

    of_a_page = 3 if "duckdb" in PEERS else 2  # its sums are what the processor is compared with
    assert len(figures) == 9 * 2 * of_a_page + 2 * 2 * len(PEERS) + 1
    assert all(value.endswith(" ms") for name, value in figures.items() if name.endswith("days"))
    assert NONE not in figures.values()
