# SPDX-License-Identifier: Apache-2.0
"""`hwci suite-config`: check and send which files are the firmware and which the harness of a
product (spec, "Suite configuration"), from JSON or from the `[[product]]` tables of a TOML file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hwci.cli import delivery, options, render, tables
from hwci.cli.failing import CommandError, Failing, client_errors, fault_lines
from hwci.cli.settings import Flags, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.wire.reports import SuiteConfiguration

suite_config = typer.Typer(
    no_args_is_help=True, help="Suite configurations of products: check, apply."
)

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="JSON body, or TOML with [[product]] tables."),
]


@suite_config.command("apply")
def apply(
    files: Files,
    dry_run: options.DryRun = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Send configurations; each replaces the earlier one of its product. Needs HWCI_CI_KEY.

    All files are checked first: if one has a fault, nothing is sent.

    For example:

      hwci suite-config apply hwci.toml

      hwci suite-config apply sensor.json gateway.json --dry-run
    """
    from hwci.client import Client, calls

    read = _checked(files, fix="Correct what is named above; nothing was sent")
    if dry_run:
        delivery.print_exactly(
            delivery.Parcel(config.suite, calls.put_suite_config(config)) for config in read
        )
        return
    settings = resolve(Flags(url, profile))
    with (
        client_errors("The configuration was not applied", by_ci_key=True),
        Client(settings.url, ci_key=settings.ci_key()) as client,
    ):
        for config in read:
            client.send(calls.put_suite_config(config))
            render.note(f"Applied to {config.repo_key}:{config.suite} at {settings.url}.")


@suite_config.command("check")
def check(files: Files) -> None:
    """Check configurations without a server: field rules, path patterns, products given twice.

    For example:

      hwci suite-config check hwci.toml
    """
    read = _checked(files, fix="Correct what is named above")
    products = tables.counted(len(read), "product")
    render.note(f"{products} in {tables.counted(len(files), 'file')}: ok.")


def _checked(files: Sequence[Path], fix: str) -> list[SuiteConfiguration]:
    """Read every file.

    Raises:
        CommandError: with every fault of all files.
    """
    read: list[SuiteConfiguration] = []
    faults: list[str] = []
    for path in files:
        for place, body in _bodies(path, faults):
            _parse(place, body, read, faults)
    faults += _twice(read)
    if faults:
        raise CommandError(
            Failing(
                "The configuration breaks the rules",
                tables.counted(len(faults), "fault"),
                fix,
                details=tuple(faults),
            )
        )
    return read


def _bodies(path: Path, faults: list[str]) -> Iterator[tuple[str, Any]]:
    """Give each product of a file with the place where it stands."""
    import json
    import tomllib

    try:
        content = path.read_bytes()
        if path.suffix != ".toml":
            yield str(path), json.loads(content)
            return
        products = tomllib.loads(content.decode("utf-8")).get("product", [])
    except OSError as fault:
        faults.append(f"{path}: cannot be read: {fault.strerror}")
        return
    except ValueError as fault:  # JSON, TOML and UTF-8 alike; the text names line and column
        faults.append(f"{path}: {fault}")
        return
    if not isinstance(products, list) or not products:
        faults.append(f"{path}: holds no [[product]] table")
        return
    for number, product in enumerate(products, 1):
        yield f"{path}: product {number}", product


def _parse(place: str, body: object, read: list[SuiteConfiguration], faults: list[str]) -> None:
    from pydantic import ValidationError

    from hwci.wire.errors import issues_of
    from hwci.wire.reports import SuiteConfiguration

    try:
        read.append(SuiteConfiguration.model_validate(body))
    except ValidationError as fault:
        faults += [f"{place}: {line}" for line in fault_lines(issues_of(fault, "body"))]


def _twice(read: Sequence[SuiteConfiguration]) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for config in read:
        product = (config.repo_key, config.suite)
        if product in seen:
            yield f"{config.repo_key}:{config.suite} is configured twice"
        seen.add(product)
