# SPDX-License-Identifier: Apache-2.0
"""`hwci` as a process that goes on while a test types at its terminal, or while runs go."""

import os
import pty
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.commands import HWCI, environment
from tests.support.running import RunningServer


def at_terminal(
    folder: Path,
    *arguments: str,
    typed: dict[bytes, bytes],
    env: dict[str, str] | None = None,
    code: int = 0,
) -> str:
    """Run `hwci` behind a terminal and type each answer once its question stands there."""
    terminal, inner = pty.openpty()
    shown, waiting = b"", dict(typed)
    with subprocess.Popen(
        [*HWCI, *arguments],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        cwd=folder,
        env=environment(folder) | (env or {}),
        start_new_session=True,
    ) as process:
        os.close(inner)
        try:
            while piece := os.read(terminal, 65_536):
                shown += piece
                for question in [text for text in waiting if text in shown]:
                    os.write(terminal, waiting.pop(question) + b"\n")
        except OSError:  # Linux says so when the other side has left
            pass
        finally:
            os.close(terminal)
    assert process.returncode == code, shown
    return shown.decode()


@contextmanager
def watching(
    folder: Path, server: RunningServer, *arguments: str, stdout: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[str]]:
    """Run `hwci runs watch` as a process; it follows when the block begins."""
    with subprocess.Popen(
        [*HWCI, "runs", "watch", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(folder) | {"HWCI_URL": server.url, "HWCI_TOKEN": server.token},
    ) as process:
        too_long = threading.Timer(120, process.kill)
        too_long.start()
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("Watching ")
            yield process
        finally:
            too_long.cancel()
            process.kill()
