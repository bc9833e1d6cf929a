# SPDX-License-Identifier: Apache-2.0
"""The schema of the SQLite file: `schema.sql`, which makes a new one, and the steps that bring an
older one there. The header of a file has the number of its last step.

A step that was released is never edited: a change of `schema.sql` is a new step, which leaves the
same tables. It inserts into `underived` the organizations whose derived rows it changes.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x68776331  # "hwc1"

STEPS: Mapping[str, Callable[["Database"], None]] = {}
"""What each step after the first does, by its name, in order."""


def steps() -> Sequence[str]:
    """Return the names of the steps that this program knows, in order."""
    return ("0001_schema", *STEPS)


def schema() -> str:
    """Return the statements that make a new database."""
    return files(__package__).joinpath("schema.sql").read_text("utf-8")


def take_steps(database: sqlite3.Connection, taken: int) -> None:
    """Take the steps that a database lacks, which has taken so many, each whole or not at all. A
    connection at which one fails is closed.
    """
    from sqlite_utils import Database  # noqa: PLC0415 - 25 MB, which no later server holds

    tables = Database(database, recursive_triggers=False, execute_plugins=False)
    for number, name in enumerate(steps()[taken:], taken + 1):
        with tables.atomic():
            STEPS[name](tables)
            database.execute(f"PRAGMA user_version = {number}")
