# SPDX-License-Identifier: Apache-2.0
"""`hwci init`: write the first `hwci.toml` of a repository, and print a job for its CI and the
next command. What is guessed is decided in `hwci.ci.new_project`, the job in `hwci.ci.new_job`.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from hwci.cli.session.reporter import command_context
from hwci.cli.session.settings import Flags, Settings, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.render import note, write
from hwci.client.explained import command_error

NOT_WRITTEN = "No hwci.toml was written"
ELSEWHERE = "https://hwci.example.org"
ITS_WHEEL = f"{ELSEWHERE}/dist/…"


class CiName(StrEnum):
    """The CI systems that there is a job for."""

    GITHUB = "github"
    GITLAB = "gitlab"
    BUILDKITE = "buildkite"
    CIRCLECI = "circleci"
    AZURE = "azure"
    JENKINS = "jenkins"


def init(
    suite: Annotated[
        str | None, typer.Option(help="Name of the product [that of the repository].")
    ] = None,
    ci: Annotated[
        CiName | None,
        typer.Option(
            help="Print the job for this CI, also where hwci.toml is there"
            " [guessed from the files and the remote]."
        ),
    ] = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Write hwci.toml for the repository of this folder, and print a job for its CI.

    What is firmware and what tests it is guessed from the names of the tracked files; read and
    correct it. A file that is there is never overwritten; --ci then prints the job alone.

    For example:

      hwci init

      hwci init --suite sensor-fw --url https://hwci.example.org

      hwci init --ci gitlab
    """
    from hwci.ci.new_job import JOBS, job_for, job_text
    from hwci.ci.new_project import guess
    from hwci.ci.reporting import PROJECT_FILE, tracked_files

    root, files, remote = tracked_files(command_context().folder(), NOT_WRITTEN)
    name = (remote or root.name).rstrip("/").rpartition("/")[2].rpartition(":")[2]
    name = name.removesuffix(".git")
    found = guess(files, suite or name, None if remote else name)
    if ci is None or not (root / PROJECT_FILE).exists():
        path = _written(root, found.text)
        note(f"{path} is written. Read it, and correct what was guessed wrong.")
    job = JOBS[ci] if ci else job_for(files, remote)
    settings = resolve(Flags(url, profile))
    server, wheel = (ELSEWHERE, ITS_WHEEL) if settings.guessed else _server(settings)
    note("The job of the CI, with the key of `hwci keys create` as its secret HWCI_CI_KEY:")
    for line in job_text(job, found.harness, server, wheel).splitlines():
        write(line)
    if job is None:
        note(f"For a whole job name the CI ({', '.join(CiName)}): hwci init --ci gitlab")
    if wheel == ITS_WHEEL:
        note("`hwci keys create` prints what stands for the address of the wheel.")
    if _is_of_this_machine(server):
        note(f"A runner on another machine cannot reach {server}. Serve under a name")
        note("(HWCI_BASE_URL=https://NAME hwci serve), and print the job with --url https://NAME.")
    note("Next: hwci suite-config check")


def _is_of_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


def _written(root: Path, text: str) -> Path:
    """Write the project file, and read it as every command does."""
    from hwci.ci.reporting import PROJECT_FILE, read_project

    path = root / PROJECT_FILE
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as fault:
        raise command_error(
            NOT_WRITTEN,
            f"{path} is there",
            "Look at it: hwci suite-config check; its job, such as: hwci init --ci gitlab",
        ) from fault
    except OSError as fault:
        cause = f"{path}: {fault.strerror}"
        raise command_error(NOT_WRITTEN, cause, "Call hwci where this user may write") from fault
    read_project(path)
    return path


def _server(settings: Settings) -> tuple[str, str]:
    """Return the server's address and that of its wheel."""
    from hwci.client import Client, calls
    from hwci.client.errors import HwciError

    try:
        with Client(settings.url, retries=0) as client:
            return settings.url, client.send(calls.wheel()).at(settings.url)
    except HwciError:
        return settings.url, ITS_WHEEL
