# SPDX-License-Identifier: Apache-2.0
"""The flags that say what the report of a run holds, each with one name and one explanation for
all commands that report one. Those of other commands, too, stand in `options.py`.
"""

from typing import Annotated

import typer

from hwci.engine.vocabulary import Trigger

Workflow = Annotated[str | None, typer.Option(help="Name of the CI workflow [the CI's].")]
RunId = Annotated[int | None, typer.Option(min=0, help="CI run id [the CI's].")]
RunAttempt = Annotated[
    int | None, typer.Option(min=1, help="Attempt of the CI run, from 1 [the CI's].")
]
TriggerName = Annotated[Trigger | None, typer.Option(help="What started the run [the CI's].")]
StartedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Start of the run [earliest time in the result files]."),
]
EndedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="End of the run [start plus what the tests took]."),
]
Conclusion = Annotated[
    str | None, typer.Option(help="Result as the CI says it [success, or failure].")
]
HelloWord = Annotated[
    str | None,
    typer.Option(
        metavar="ok|failed",
        help="Did the connectivity check before the tests pass? Only `failed` says no. [ok]",
    ),
]
HelloCommand = Annotated[
    str | None,
    typer.Option(metavar="COMMAND", help="A connectivity check to run; its exit status says it."),
]
Box = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Box that ran the tests [HWCI_BOX, or the CI's]."),
]
CoversShas = Annotated[
    list[str] | None,
    typer.Option(metavar="SHA", help="Every commit of the push; repeatable, or a list [git's]."),
]
BaseSha = Annotated[
    str | None,
    typer.Option(
        metavar="SHA", help="Commit of the last earlier run of this workflow that tested."
    ),
]
ChangesFile = Annotated[
    str | None, typer.Option(metavar="FILE|-", help="The `changes` object as JSON [git's].")
]
NoChanges = Annotated[bool, typer.Option("--no-changes", help="Do not ask git what changed.")]
