# SPDX-License-Identifier: Apache-2.0
"""`hwci init`: write the first `hwci.toml` of a repository, and print a job for its CI and the
next command. What is guessed is decided in `hwci.ci.new_project`, the job in `hwci.ci.new_job`.
"""

from pathlib import Path
from typing import Annotated

import typer

from hwci.cli.session.reporter import command_context
from hwci.cli.session.settings import Flags, Settings, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.render import note, write
from hwci.client.explained import command_error
from hwci.contract.ci_systems import CiSystem, SigningSystem

NOT_WRITTEN = "No hwci.toml was written"
OWN_FOLDER = ".hwci"
ELSEWHERE = "https://hwci.example.org"
SERVE = (
    "HWCI_BASE_URL=https://NAME hwci serve --host 0.0.0.0 --port 443"
    " --tls-cert chain.pem --tls-key key.pem"
)
ANY_JOB = f"hwci init --ci {CiSystem.GITHUB} (or {', '.join(list(CiSystem)[1:])})"


def init(
    suite: Annotated[
        str | None, typer.Option(help="Name of the product [that of the repository].")
    ] = None,
    ci: Annotated[
        CiSystem | None,
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
    correct it. A file that is there is never overwritten; --ci then prints the job alone. With it
    comes the folder .hwci for result files, which git ignores.

    For example:

      hwci init

      hwci init --suite sensor-fw --url https://hwci.example.org

      hwci init --ci github > .github/workflows/hil.yml
    """
    from hwci.ci.new_job import JOBS, job_for, job_text
    from hwci.ci.new_project import guess
    from hwci.ci.reporting import PROJECT_FILE, repository_of

    repository = repository_of(command_context().folder(), NOT_WRITTEN)
    root, files, remote = repository.root, repository.files, repository.remote
    project = guess(files, root.name, remote, suite=suite)
    settings = resolve(Flags(url, profile))
    if ci is None or not (root / PROJECT_FILE).exists():
        path = write_project(root, _schema_line(settings) + project.text)
        make_own_folder(root)
        note(f"{path} is written. Read it, and correct what was guessed wrong.")
    job = JOBS[ci] if ci else job_for(files, remote)
    server = ELSEWHERE if settings.guessed else settings.url
    wheel = None if settings.guessed else _wheel(settings)
    note("The job of the CI, with the key of `hwci keys create` as its secret HWCI_CI_KEY:")
    if any(JOBS[CiSystem(system)] is job for system in SigningSystem):
        note("It can do without the secret: hwci trusts create --help")
    its_wheel = wheel or f"{server}/dist/…"
    text = job_text(
        job, project.harness, server, its_wheel, main=repository.main, twister=project.twister
    )
    for line in text.splitlines():
        write(line)
    if job is None:
        note(f"For a whole job name the CI: {ANY_JOB}")
    if settings.guessed:
        note("`hwci keys create` prints what stands for the address of the wheel.")
    else:
        _note_unreachable(server, answers=wheel is not None)
    note("Commit hwci.toml and the job.")
    note("Next: hwci suite-config check")


def _note_unreachable(server: str, *, answers: bool) -> None:
    """Note what the job cannot do with this server."""
    from hwci.client._address import is_of_this_machine

    if not answers:
        note(f"warning: No hwci answers at {server}: the wheel in the job is a placeholder.")
        note("Start the server or correct its address, then print the job again with --ci.")
    if is_of_this_machine(server):
        note(f"A runner on another machine cannot reach {server}. Serve with TLS under a name")
        note("(or behind a proxy), and print the job with --ci and --url https://NAME:")
        note(f"  {SERVE}")


def write_project(root: Path, text: str) -> Path:
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
            f"Look at it: hwci suite-config check; to print a job: {ANY_JOB}",
        ) from fault
    except OSError as fault:
        cause = f"{path}: {fault.strerror}"
        raise command_error(NOT_WRITTEN, cause, "Call hwci where this user may write") from fault
    read_project(path)
    return path


def make_own_folder(root: Path) -> None:
    """Make the folder for results of tests, which git ignores, as no result belongs to a commit."""
    ignoring = root / OWN_FOLDER / ".gitignore"
    try:
        ignoring.parent.mkdir(exist_ok=True)
        if not ignoring.exists():
            ignoring.write_text("*\n")
    except OSError as fault:
        note(f"warning: {ignoring} cannot be written: {fault.strerror}.")


def _schema_line(settings: Settings) -> str:
    """Return the line by which editors (Taplo, Even Better TOML) find the schema of the file; empty
    where no server is known that others reach, too.
    """
    from hwci.client._address import is_of_this_machine
    from hwci.wire.endpoints.health import PROJECT_SCHEMA

    if settings.guessed or is_of_this_machine(settings.url):
        return ""
    return f"#:schema {settings.url.rstrip('/')}{PROJECT_SCHEMA.path}\n"


def _wheel(settings: Settings) -> str | None:
    """Return the address of the server's wheel; None if no hwci answers."""
    from hwci.client import Client, calls
    from hwci.client.errors import HwciError

    try:
        with Client(settings.url, retries=0) as client:
            return client.send(calls.wheel()).at(settings.url)
    except HwciError:
        return None
