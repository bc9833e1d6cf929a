# SPDX-License-Identifier: Apache-2.0
"""`hwci quarantine`: tests with known failures, as the tool that runs them leaves them out. Which
may be left out is the server's to say, and how it is written is in `hwci.cli.terminal.quarantine`.
"""

from typing import Annotated

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options
from hwci.cli.terminal import quarantine as forms
from hwci.cli.terminal.render import note, write
from hwci.client.explained import wrong_usage
from hwci.wire import limits


@connected(by_key=True)
def quarantine(
    server: Connection,
    *,
    form: Annotated[
        forms.Form, typer.Option("--format", help="The tool that is to leave the tests out.")
    ],
    product: options.Product = None,
    days: options.Days = limits.DAYS_DEFAULT,
) -> None:
    """Write the tests with known failures as pytest, Twister or CTest leave them out.

    Each has the ticket and the end of its rule. Never a test that is broken, pending or suspected
    of a race in the firmware, nor one that fails in ways that no rule knows: those are noted, with
    why. Write the file anew for each run, as pytest @known.txt reads it: a rule that is over is in
    none.

    For example:

      hwci quarantine --format pytest --product acme/firmware:hil > known.txt

      hwci quarantine --format ctest --product acme/firmware:unit > build/CTestCustom.cmake

      hwci quarantine --format twister --product acme/firmware:kernel > known.yaml
    """
    repo_key, suite = server.scope_of(product, None)
    if repo_key is None or suite is None:
        raise wrong_usage(
            "No product is named",
            "tests of two products may have one name",
            "Add --product REPO:SUITE (hwci products lists them)",
        )
    org_id, end = server.org_id(), options.now()
    listed = client.calls.quarantine(
        org_id,
        repo_key=repo_key,
        suite=suite,
        days=days,
        as_of=end,
        limit=limits.PAGE_LIMIT_MAX,
    )
    tests = [*server.items(listed)]
    quarantined = {test.test_id for test in tests if test.left_out is None}

    def others(start: str) -> set[str]:
        named = client.calls.list_tests(
            org_id,
            repo_key=repo_key,
            suite=suite,
            search=start[: limits.SEARCH_MAX],
            limit=limits.PAGE_LIMIT_MAX,
        )
        names = {test.test_id for test in server.items(named)}
        return {name for name in names - quarantined if name.startswith(start)}

    written = forms.written(form, tests, others)
    for line in written.lines:
        write(line)
    for test_id, why in written.left_out:
        note(f"Not in quarantine: {test_id}: {why}")
