# SPDX-License-Identifier: Apache-2.0
"""What every storage driver promises of boxes."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from hwci.contract.people import Actor
from hwci.contract.vocabulary import Trigger
from hwci.engine.periods import Period
from hwci.server.errors import ClashError
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Box, LiveRun, RunHead, box_note
from tests.server.storage.examples import ACME, BOX, BOX_NOTE, NOON, OTHER, REPORT

LATER = NOON + timedelta(hours=1)
ENDS = NOON + timedelta(hours=24)
INSTALLED = replace(
    BOX, install_digest=None, install_expires_at=None, key_digest=b"key", last_seen_at=LATER
)
HEAD = RunHead("fw", "hil", "nightly", 7, 1, "b1", Trigger.MERGE, "main", "bbbbbbb", NOON)
RUN = LiveRun(UUID(int=61), ACME.id, BOX.id, HEAD, (), None, NOON)


@pytest.fixture(autouse=True)
async def _organizations(storage: Storage) -> None:
    def found(writer: Writer) -> None:
        for organization in (ACME, OTHER):
            writer.add_organization(organization)

    await storage.write(found)


async def install(storage: Storage, box: Box = BOX) -> None:
    """Keep a box and install it an hour later."""
    await storage.write(lambda w: w.add_box(box))
    assert await storage.write(
        lambda w: w.install_box(box.org_id, box.id, b"install", b"key", LATER)
    )


async def test_a_box_is_found_by_id_in_its_organization_alone(storage: Storage) -> None:
    await storage.write(lambda w: w.add_box(BOX))

    assert await storage.read(lambda r: r.box(ACME.id, BOX.id)) == BOX
    assert await storage.read(lambda r: r.box(OTHER.id, BOX.id)) is None
    assert await storage.read(lambda r: r.box(ACME.id, UUID(int=9))) is None


async def test_a_taken_name_is_a_clash_within_its_organization(storage: Storage) -> None:
    await storage.write(lambda w: w.add_box(BOX))
    twin = Box(UUID(int=52), ACME.id, BOX.name, NOON)

    with pytest.raises(ClashError) as clash:
        await storage.write(lambda w: w.add_box(twin))
    assert clash.value.field == "name"
    await storage.write(lambda w: w.add_box(replace(twin, org_id=OTHER.id)))
    await storage.write(lambda w: w.add_box(replace(twin, name=BOX.name.upper())))


async def test_an_install_uses_the_token_up_and_gives_the_key(storage: Storage) -> None:
    await storage.write(lambda w: w.add_box(BOX))
    assert await storage.read(lambda r: r.box_by_install(b"install")) == BOX
    await storage.write(lambda w: w.install_box(ACME.id, BOX.id, b"install", b"key", LATER))

    assert await storage.read(lambda r: r.box_by_key(b"key")) == (INSTALLED, ACME)
    assert await storage.read(lambda r: r.box_by_install(b"install")) is None
    assert not await storage.write(
        lambda w: w.install_box(ACME.id, BOX.id, b"install", b"other", LATER)
    )
    assert await storage.read(lambda r: r.box_by_key(b"other")) is None


async def test_an_install_needs_the_box_s_own_token_before_its_end(storage: Storage) -> None:
    other = Box(UUID(int=52), ACME.id, "b2", NOON, b"of b2", ENDS)

    def try_in_vain(writer: Writer) -> None:
        for box in (BOX, other):
            writer.add_box(box)
        for org_id, box_id, digest, at in (
            (ACME.id, BOX.id, b"of b2", LATER),
            (ACME.id, BOX.id, b"unknown", LATER),
            (OTHER.id, BOX.id, b"install", LATER),
            (ACME.id, UUID(int=9), b"install", LATER),
            (ACME.id, BOX.id, b"install", ENDS),
        ):
            assert not writer.install_box(org_id, box_id, digest, b"key", at)

    await storage.write(try_in_vain)
    assert await storage.read(lambda r: r.box_by_key(b"key")) is None
    last_moment = ENDS - timedelta(microseconds=1)
    assert await storage.write(
        lambda w: w.install_box(ACME.id, BOX.id, b"install", b"key", last_moment)
    )


async def test_a_new_token_takes_the_place_of_the_earlier_and_leaves_the_key(
    storage: Storage,
) -> None:
    await install(storage)

    def renew(writer: Writer) -> None:
        for digest in (b"second", b"third"):
            assert writer.set_install(ACME.id, BOX.id, digest, ENDS)

    await storage.write(renew)

    waiting = replace(INSTALLED, install_digest=b"third", install_expires_at=ENDS)
    assert await storage.read(lambda r: r.box_by_install(b"second")) is None
    assert await storage.read(lambda r: r.box_by_install(b"third")) == waiting
    assert await storage.read(lambda r: r.box_by_key(b"key")) == (waiting, ACME)
    assert await storage.write(lambda w: w.install_box(ACME.id, BOX.id, b"third", b"new", LATER))
    assert await storage.read(lambda r: r.box_by_key(b"key")) is None
    assert not await storage.write(lambda w: w.set_install(ACME.id, UUID(int=9), b"x", ENDS))
    assert not await storage.write(lambda w: w.set_install(OTHER.id, BOX.id, b"x", ENDS))


async def test_a_box_was_seen_at_the_latest_recorded_time(storage: Storage) -> None:
    await install(storage)
    latest = LATER + timedelta(minutes=5)
    await storage.write(lambda w: w.touch_box(ACME.id, BOX.id, latest))
    await storage.write(lambda w: w.touch_box(ACME.id, BOX.id, LATER))

    assert await storage.read(lambda r: r.box(ACME.id, BOX.id)) == replace(
        INSTALLED, last_seen_at=latest
    )
    never = Box(UUID(int=52), ACME.id, "b2", NOON)
    await storage.write(lambda w: w.add_box(never))
    assert await storage.read(lambda r: r.boxes_seen(ACME.id)) == {BOX.name: latest}
    assert await storage.read(lambda r: r.boxes_seen(OTHER.id)) == {}
    await storage.write(lambda w: w.set_install(ACME.id, BOX.id, b"install", ENDS))
    await storage.write(lambda w: w.install_box(ACME.id, BOX.id, b"install", b"key", LATER))
    again = await storage.read(lambda r: r.box(ACME.id, BOX.id))
    assert again is not None
    assert again.last_seen_at == latest


async def test_a_sign_of_a_box_keeps_its_live_runs_alive_but_not_lost_ones(
    storage: Storage,
) -> None:
    of_other_box = Box(UUID(int=52), ACME.id, "b2", NOON)
    lost = replace(RUN, id=UUID(int=62), lost=True)
    elsewhere = replace(RUN, id=UUID(int=63), box_id=of_other_box.id)
    await install(storage)

    def open_runs(writer: Writer) -> None:
        writer.add_box(of_other_box)
        for run in (RUN, lost, elsewhere):
            writer.put_live_run(run)

    await storage.write(open_runs)
    await storage.write(lambda w: w.touch_box(ACME.id, BOX.id, LATER))
    await storage.write(lambda w: w.touch_box(ACME.id, BOX.id, NOON))

    alive = replace(RUN, last_seen_at=LATER)
    assert await storage.read(lambda r: r.live_run(ACME.id, RUN.id)) == alive
    assert await storage.read(lambda r: r.live_run(ACME.id, lost.id)) == lost
    assert await storage.read(lambda r: r.live_run(ACME.id, elsewhere.id)) == elsewhere


async def test_what_was_seen_of_a_box_by_a_wrong_clock_gives_way_to_the_next_time(
    storage: Storage,
) -> None:
    await install(storage)
    await storage.write(lambda w: w.put_live_run(RUN))
    await storage.write(lambda w: w.touch_box(ACME.id, BOX.id, NOON + timedelta(days=365)))
    await storage.write(lambda w: w.touch_box(ACME.id, BOX.id, LATER))

    box = await storage.read(lambda r: r.box(ACME.id, BOX.id))
    assert box is not None
    assert box.last_seen_at == LATER
    run = await storage.read(lambda r: r.live_run(ACME.id, RUN.id))
    assert run == replace(RUN, last_seen_at=LATER)


async def test_boxes_are_listed_newest_first_with_their_latest_report(storage: Storage) -> None:
    later = Box(UUID(int=52), ACME.id, "b2", LATER)
    equal = Box(UUID(int=50), ACME.id, "b3", LATER)

    def fill(writer: Writer) -> None:
        for box in (later, equal, BOX, Box(UUID(int=53), OTHER.id, "b1", NOON)):
            writer.add_box(box)
        for number, started_at in enumerate((LATER, NOON)):
            writer.put_report(ACME.id, replace(REPORT, run_id=number, started_at=started_at), NOON)
        writer.put_report(OTHER.id, replace(REPORT, box_key="b2"), NOON)

    await storage.write(fill)
    listed = await storage.read(lambda r: r.boxes(ACME.id, 0, 10))
    assert list(listed.items) == [(equal, None), (later, None), (BOX, LATER)]
    assert listed.total == 3
    second = await storage.read(lambda r: r.boxes(ACME.id, 1, 1))
    assert (list(second.items), second.total) == ([(later, None)], 3)
    beyond = await storage.read(lambda r: r.boxes(ACME.id, 3, 1))
    assert (list(beyond.items), beyond.total) == ([], 3)


async def test_a_box_is_renamed_to_a_name_that_is_free(storage: Storage) -> None:
    await install(storage)
    await storage.write(lambda w: w.add_box(Box(UUID(int=52), ACME.id, "b2", NOON)))

    await storage.write(lambda w: w.rename_box(ACME.id, BOX.id, BOX.name))
    with pytest.raises(ClashError):
        await storage.write(lambda w: w.rename_box(ACME.id, BOX.id, "b2"))
    await storage.write(lambda w: w.rename_box(ACME.id, BOX.id, "b3"))
    renamed = replace(INSTALLED, name="b3")
    assert await storage.read(lambda r: r.box_by_key(b"key")) == (renamed, ACME)


async def test_a_removed_box_leaves_its_live_runs_and_its_name(storage: Storage) -> None:
    await install(storage)
    await storage.write(lambda w: w.put_live_run(RUN))
    await storage.write(lambda w: w.remove_box(ACME.id, BOX.id))

    assert await storage.read(lambda r: r.box(ACME.id, BOX.id)) is None
    assert await storage.read(lambda r: r.box_by_key(b"key")) is None
    assert await storage.read(lambda r: r.live_run(ACME.id, RUN.id)) == RUN
    await storage.write(lambda w: w.add_box(replace(BOX, id=UUID(int=52))))

    assert list(await storage.read(lambda r: r.lost_runs(NOON))) == [RUN]
    await storage.write(lambda w: w.mark_lost(ACME.id, RUN.id, NOON))
    assert await storage.write(lambda w: w.drop_lost_runs(NOON, 9)) == 1


async def test_names_that_only_reports_have_are_listed_latest_first(storage: Storage) -> None:
    def fill(writer: Writer) -> None:
        writer.add_box(BOX)
        for number, (name, at) in enumerate(
            [(BOX.name, LATER), ("b4", NOON), ("b3", LATER), ("b4", LATER), ("b2", NOON)]
        ):
            writer.put_report(
                ACME.id, replace(REPORT, box_key=name, run_id=number, started_at=at), NOON
            )
        writer.put_report(OTHER.id, replace(REPORT, box_key="b9"), NOON)

    await storage.write(fill)
    listed = await storage.read(lambda r: r.reported_boxes(ACME.id, 0, 10))
    assert list(listed.items) == [("b3", LATER), ("b4", LATER), ("b2", NOON)]
    second = await storage.read(lambda r: r.reported_boxes(ACME.id, 1, 1))
    assert (list(second.items), second.total) == ([("b4", LATER)], 3)
    none = await storage.read(lambda r: r.reported_boxes(ACME.id, 0, 0))
    assert (list(none.items), none.total) == ([], 3)


async def test_notes_are_listed_latest_first_in_their_organization_alone(storage: Storage) -> None:
    later = box_note(ACME.id, "b1", LATER, BOX_NOTE.text, BOX_NOTE.by)
    elsewhere = box_note(OTHER.id, "b1", NOON, BOX_NOTE.text, BOX_NOTE.by)
    other = box_note(ACME.id, "b2", LATER + timedelta(hours=1), BOX_NOTE.text, BOX_NOTE.by)

    def work(writer: Writer) -> None:
        for note in (BOX_NOTE, later, other):
            writer.add_box_note(ACME.id, note)
        writer.add_box_note(OTHER.id, elsewhere)

    await storage.write(work)
    found = await storage.read(lambda r: r.box_notes(ACME.id, None, 0, 2))
    assert (found.items, found.total) == ([other, later], 3)
    found = await storage.read(lambda r: r.box_notes(ACME.id, "b1", 0, 9))
    assert (found.items, found.total) == ([later, BOX_NOTE], 2)
    within = await storage.read(lambda r: r.box_notes_of(ACME.id, Period(NOON, LATER)))
    assert within == [BOX_NOTE, later]

    nobody = Actor(BOX_NOTE.by.id, "nobody")
    assert await storage.write(lambda w: w.rename_noter(OTHER.id, nobody)) == 1
    (renamed,) = (await storage.read(lambda r: r.box_notes(OTHER.id, None, 0, 9))).items
    assert renamed == replace(elsewhere, by=nobody)
    assert await storage.write(lambda w: w.rename_noter(OTHER.id, Actor(ACME.id, "x"))) == 0
    with pytest.raises(ClashError) as clash:
        await storage.write(lambda w: w.add_box_note(ACME.id, later))
    assert clash.value.field == "text"
    assert await storage.write(lambda w: w.remove_box_note(ACME.id, later.id)) == later
    assert await storage.write(lambda w: w.remove_box_note(ACME.id, later.id)) is None
    assert await storage.write(lambda w: w.remove_box_note(ACME.id, elsewhere.id)) is None
    within = await storage.read(lambda r: r.box_notes_of(ACME.id, Period(NOON, LATER)))
    assert within == [BOX_NOTE]
