# SPDX-License-Identifier: Apache-2.0
"""The `hwci` command, run in a folder as by a person who has set no variables.

`hwci` runs it in this process, which takes a twentieth of the time: a process of its own costs half
a second of a core, one that opens a database two; `with_children` if it starts others that write.
`hwci_process` and `started` are for claims about processes: what serves, signals, locks between
processes, streams.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from unittest import mock

import pytest
import typer.testing
from aiohttp.log import access_logger
from typer.main import get_command

from hwci.bench.child import FORWARDED
from hwci.cli.main import app

HWCI = (sys.executable, "-m", "hwci")
ROOT = Path(__file__).parents[2]

# The runner builds all commands again for each call, which takes ten times as long as most of them.
_command = cache(get_command)
typer.testing._get_command = _command  # type: ignore[attr-defined]  # private


def invoked(
    arguments: Sequence[str], stdin: str | bytes, env: Mapping[str, str | None]
) -> typer.testing.Result:
    """Run the command in this process until it ends; `env` changes the environment."""
    with _same_log():
        result = typer.testing.CliRunner().invoke(
            app, list(arguments), input=stdin, env=env, prog_name="hwci"
        )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def _is_set(name: str) -> bool:
    """Return whether a person sets this variable; pytest-xdist sets the width of a terminal."""
    return name.startswith("HWCI_") or name == "COLUMNS"


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a person who has set nothing."""
    kept = {name: value for name, value in os.environ.items() if not _is_set(name)}
    return kept | {"XDG_CONFIG_HOME": str(folder), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def hwci(
    folder: Path, *arguments: str, stdin: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process until it ends."""
    unset = {name: None for name in os.environ if _is_set(name)}
    with contextlib.chdir(folder):
        result = invoked(arguments, stdin, unset | environment(folder) | variables)
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)


def with_children(
    folder: Path, arguments: Sequence[str], environ: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run the command in this process until it ends; return its exit code, and what it and the
    processes that it started wrote to stdout and to stderr, in their order.
    """
    with (
        mock.patch.dict(os.environ, environ, clear=True),
        contextlib.chdir(folder),
        _same_log(),
        _same_signals(),
        _written(1, contextlib.redirect_stdout) as out,
        _written(2, contextlib.redirect_stderr) as err,
    ):
        with pytest.raises(SystemExit) as ended:
            _command(app).main(list(arguments), "hwci")
        out.seek(0)
        err.seek(0)
        return int(ended.value.code or 0), out.read(), err.read()


@contextmanager
def _written(
    number: int, redirect: Callable[[IO[str]], AbstractContextManager[IO[str]]]
) -> Iterator[IO[str]]:
    """Put a file in the place of a stream, for this process and those that it starts."""
    before = os.dup(number)
    with TemporaryFile("w+") as file, redirect(file):
        os.dup2(file.fileno(), number)
        try:
            yield file
        finally:
            os.dup2(before, number)
            os.close(before)


@contextmanager
def _same_signals() -> Iterator[None]:
    """Handle signals again as before: a command that is cancelled ignores them until it ends."""
    before = {number: signal.getsignal(number) for number in FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _same_log() -> Iterator[None]:
    """Restore the log of requests: a server writes it to the stderr of its command, which ends."""
    before = (list(access_logger.handlers), access_logger.level, access_logger.propagate)
    try:
        yield
    finally:
        access_logger.handlers, access_logger.level, access_logger.propagate = before


def hwci_process(
    folder: Path, *arguments: str, stdin: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own until it ends."""
    return subprocess.run(
        [*HWCI, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment(folder) | variables,
        timeout=60,
    )


def hwci_beside(folder: Path, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
    """Start the command as a process, for what runs at the same time."""
    return subprocess.Popen(
        [*HWCI, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(folder) | variables,
    )


@contextmanager
def started(
    folder: Path, *arguments: str, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server, and yield it with the line that it prints."""
    env = environment(folder) | variables
    with subprocess.Popen(
        [*HWCI, *arguments], stderr=subprocess.PIPE, text=True, cwd=folder, env=env
    ) as process:
        assert process.stderr is not None
        try:
            yield process, process.stderr.readline()
        finally:
            if process.poll() is None:
                process.terminate()
