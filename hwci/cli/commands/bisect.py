# SPDX-License-Identifier: Apache-2.0
"""`hwci bisect`: the commit that broke a test, and the run that tells most about it. The server
computes both from the reports of ordinary runs: nothing is kept of a bisection, and no command here
changes the repository.
"""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options, render
from hwci.client.explained import command_error, not_empty, wrong_usage
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.contract.flaky.bisection import Bisected, Bisection

bisect = typer.Typer(no_args_is_help=True)

Test = Annotated[str, typer.Argument(metavar="TEST", help="Id of the test.")]
Product = Annotated[
    str | None,
    typer.Option(
        "--product", metavar="REPO:SUITE", help="Its product [the only one that has the test]."
    ),
]
Good = Annotated[
    str | None,
    typer.Option(
        metavar="COMMIT",
        help="A commit on which it still worked, or its first digits [as its runs suggest].",
    ),
]
Bad = Annotated[
    str | None,
    typer.Option(
        metavar="COMMIT",
        help="A later one on which it failed, or its first digits [as its runs suggest].",
    ),
]
Box = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only this box: its runs count, and it runs the next one."),
]


Boxes = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        max=limits.BISECTED_AT_ONCE_MAX,
        help="How many runs to propose at once at most, each on a box of its own.",
    ),
]


class Wanted(NamedTuple):
    """What is looked for, as the flags have it."""

    test: str
    product: str | None
    good: str | None
    bad: str | None
    box: str | None
    days: int
    as_of: str | None
    boxes: int = 1

    def answer(self, server: Connection) -> "Bisection":
        """Ask the server."""
        if (self.good is None) != (self.bad is None):
            raise wrong_usage(
                "The commit was not looked for",
                "one of --good and --bad is given without the other",
                "Give both, or neither: then its runs suggest them",
            )
        test = str(not_empty(self.test, "TEST"))
        repo_key, suite = server.product(self.product, test)
        return server.send(
            client.calls.bisection(
                server.org_id(),
                test_id=test,
                good=self.good,
                bad=self.bad,
                repo_key=repo_key,
                suite=suite,
                box_key=self.box,
                boxes=self.boxes,
                days=self.days,
                as_of=options.time_of(self.as_of, "--as-of"),
            )
        )


@bisect.command("start")
@connected(by_key=True)
def start(
    server: Connection,
    test: Test,
    *,
    product: Product = None,
    good: Good = None,
    bad: Bad = None,
    box: Box = None,
    boxes: Boxes = 1,
    days: options.Days = limits.DAYS_DEFAULT,
    as_of: options.AsOf = None,
    json: options.Json = False,
) -> None:
    """Print among which commits a test began to fail, and the run that tells most about it.

    The runs of the period count as answers, also those of CI. Run the printed command in a clone on
    the box that it names (COMMAND is what runs the tests there), then ask for the next one.

    For example:

      hwci bisect start boot

      hwci bisect start boot --product acme/fw:hil --good a1b2c3d --bad 9f8e7d6
    """
    wanted = Wanted(test, product, good, bad, box, days, as_of, boxes)
    _lines(server, wanted, begins=True, json=json)


@bisect.command("next")
@connected(by_key=True)
def next_run(
    server: Connection,
    test: Test,
    *,
    product: Product = None,
    good: Good = None,
    bad: Bad = None,
    box: Box = None,
    boxes: Boxes = 1,
    days: options.Days = limits.DAYS_DEFAULT,
    as_of: options.AsOf = None,
    json: options.Json = False,
) -> None:
    """Print the next run as a command to paste, or the commit once it is found with 95 %.

    With --boxes 4 it prints up to four runs, chosen together: start them at the same time, each on
    its box, and ask again when all have ended. It leaves out a box that would tell little.

    For example:

      hwci bisect next boot --product acme/fw:hil --good a1b2c3d --bad 9f8e7d6
    """
    wanted = Wanted(test, product, good, bad, box, days, as_of, boxes)
    _lines(server, wanted, begins=False, json=json)


@bisect.command("status")
@connected(by_key=True)
def status(
    server: Connection,
    test: Test,
    *,
    product: Product = None,
    good: Good = None,
    bad: Bad = None,
    box: Box = None,
    days: options.Days = limits.DAYS_DEFAULT,
    as_of: options.AsOf = None,
    json: options.Json = False,
    output: options.Output = None,
) -> None:
    """List the commits with their runs, and the chance of each that it broke the test.

    It is the chance that hwci tests show has, by all runs of the test; of the good commit, that the
    test failed there already. Too few runs for that: by those on these commits alone, and the last
    line says so. Runs count by their first attempt; what the harness blames on the bench does not
    count.

    For example:

      hwci bisect status boot --product acme/fw:hil --good a1b2c3d --bad 9f8e7d6
    """
    from hwci.cli.terminal import bisection

    form = options.form_of(json, output)
    answer = Wanted(test, product, good, bad, box, days, as_of).answer(server)
    if form is render.Format.JSON:
        render.emit_json(answer)
        return
    bisected = _found(answer)
    render.emit(bisection.commits(bisected), bisected.commits, form)
    render.note(bisected.says)


def _lines(server: Connection, wanted: Wanted, *, begins: bool, json: bool) -> None:
    """Print the lines of an answer, and the command that asks for the next run."""
    from hwci.cli.terminal import bisection

    answer = wanted.answer(server)
    if json:
        render.emit_json(answer)
        return
    bisected = _found(answer)
    if begins:
        for line in bisection.start(answer, bisected):
            render.write(line)
    for line in bisection.next_run(bisected):
        render.write(line)
    if bisected.next_runs:
        render.note(f"Then: {bisected.then}")


def _found(answer: "Bisection") -> "Bisected":
    if answer.found is None:
        raise command_error(
            "The commit cannot be looked for", str(answer.missing_text), str(answer.to_do)
        )
    return answer.found
