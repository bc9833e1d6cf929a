# SPDX-License-Identifier: Apache-2.0
"""An organization moves between any two databases by an export and an import (ADR 0022)."""

from collections.abc import Callable
from pathlib import Path

from hwci.server.services.transfer.importing import in_pieces, keep, open_source
from hwci.server.storage.location import Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Writer
from tests.server.exports import ACME, export, made_export, pages
from tests.server.storage.histories import NOON, ORG


async def test_every_page_is_the_same_in_each_kind_of_database_and_after_the_way_back(
    tmp_path: Path, new_database: Callable[[], Location]
) -> None:
    source, shown = await made_export(tmp_path, 9)
    opened, back = open_source(source), tmp_path / "back.db"

    def work(writer: Writer) -> list[bool]:
        writer.add_organization(ACME)
        found = [one.sent for piece in in_pieces(opened.found()) for one in piece]
        return [keep(writer, ORG, one, NOON) for one in found if one is not None]

    storage = open_storage(new_database())
    try:
        assert all(await storage.write(work))
        assert await storage.read(lambda reader: pages(reader, 9)) == shown
        await export(storage, back)
    finally:
        await storage.close()

    assert [one.sent for one in open_source(back).found()] == [one.sent for one in opened.found()]
