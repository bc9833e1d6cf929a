# SPDX-License-Identifier: Apache-2.0
"""The first steps that a new organization is shown: what is pasted from the page into a terminal,
as it stands and in its order, brings the first merge and the first report there.
"""

import os
import pty
import select
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
import yaml
from playwright.sync_api import Page, expect

from hwci.contract.ci_systems import CiSystem
from tests.support.running import RunningServer, running_in_thread
from tests.web.conftest import PATIENCE_SECONDS, Account, Dashboard

pytestmark = pytest.mark.own_tab

DESK = slice(1, 5)
"""Of what is to be pasted: after the install, before the job of CI."""
REMOTE = "git@github.com:acme/firmware.git"


class Desk:
    """A terminal in a checkout, with `hwci`, `pytest` and nothing else of ours."""

    def __init__(self, folder: Path) -> None:
        self._programs = folder / "bin"
        self._checkout = folder / "firmware"
        self._home = folder / "home"
        for made in (self._programs, self._checkout, self._home):
            made.mkdir()
        self._program("hwci", "-m hwci")
        self._program("pytest", "-m pytest -p no:cacheprovider")
        (self._checkout / "test_board.py").write_text("def test_boot() -> None: pass\n")
        for command in (
            "init -q -b main",
            f"remote add origin {REMOTE}",
            "add .",
            "-c user.name=Ada -c user.email=ada@example.org commit -qm first",
        ):
            subprocess.run(["git", *command.split()], cwd=self._checkout, check=True)

    def paste(self, text: str, answers: dict[str, str]) -> str:
        """Run commands as a person would paste them; `answers` to what they ask for. Give what
        was shown.
        """
        ours, theirs = pty.openpty()
        # Whoever leads a session and opens a terminal has it as its own.
        opens = f'exec bash -e -c "$0" <{os.ttyname(theirs)} >{os.ttyname(theirs)} 2>&1'
        with subprocess.Popen(
            ["bash", "-c", opens, text],
            cwd=self._checkout,
            start_new_session=True,
            env={
                "PATH": f"{self._programs}:{os.environ['PATH']}",
                "HOME": str(self._home),
                "PYTHONPATH": str(Path(__file__).parents[2]),
                "TERM": "dumb",
            },
        ) as running:
            shown = _talk(ours, running, dict(answers))
        os.close(ours)
        os.close(theirs)
        assert running.returncode == 0, shown
        return shown

    def _program(self, name: str, runs: str) -> None:
        program = self._programs / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {runs} "$@"\n')
        program.chmod(0o755)


def _talk(terminal: int, running: "subprocess.Popen[bytes]", answers: dict[str, str]) -> str:
    """Read until the commands have ended, and answer each question once."""
    shown, ended, end = "", False, monotonic() + PATIENCE_SECONDS
    while not ended:
        assert monotonic() < end, shown
        ended = running.poll() is not None  # what was written before that is read yet
        while select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65_536).decode(errors="replace")
        for question in [one for one in answers if one in shown]:
            os.write(terminal, f"{answers.pop(question)}\n".encode())
    return shown


def pasted(page: Page) -> list[str]:
    """Return what the page has to be pasted, as it would be copied."""
    return page.locator(".copyable code").all_text_contents()


@pytest.fixture
def server(page: Page, tmp_path: Path) -> Iterator[RunningServer]:
    """Run a server on the clock of the terminal; sign its owner in and open the metrics page."""
    with running_in_thread(tmp_path) as running:
        Dashboard(running.url, Account(running.email, running.password)).sign_in(page.context)
        page.goto(f"{running.url}/orgs/{running.org_id}/metrics")
        expect(page.get_by_role("heading", name="No report has arrived yet")).to_be_visible()
        # The address of the wheel comes last.
        expect(page.locator(".copyable code").first).to_contain_text("pip install")
        yield running


def test_what_is_pasted_brings_the_first_merge_and_the_first_report(
    page: Page, server: RunningServer, tmp_path: Path
) -> None:
    answers = {"E-mail": server.email, "Password": server.password}

    shown = Desk(tmp_path).paste("\n".join(pasted(page)[DESK]), answers)

    assert "Announced" in shown
    assert "Reported 1 test (0 failed) on bench-1" in shown
    page.get_by_role("button", name="Refresh").click()
    tile = page.locator(".tile", has_text="Merges checked on hardware")
    expect(tile).to_contain_text("of 1 merge · 100.0 %")
    expect(page.locator(".tile", has_text="Infra runs")).to_contain_text("of 1 run report")


def test_what_is_pasted_then_makes_the_job_of_ci(
    page: Page, server: RunningServer, tmp_path: Path
) -> None:
    expect(page.get_by_text("such as HWCI_REPO_KEY. Run hwci doctor in a job")).to_be_visible()
    others = ", ".join(list(CiSystem)[1:])
    expect(page.get_by_text(f"Of GitHub (or {others}), with the address")).to_be_visible()
    install, *desk = pasted(page)
    address = f"export HWCI_URL={server.url}"

    Desk(tmp_path).paste("\n".join([address, "hwci init", *desk[DESK.stop - 1 :]]), {})

    job = yaml.safe_load((tmp_path / "firmware/.github/workflows/hil.yml").read_text())
    assert job["env"]["HWCI_URL"] == server.url
    assert job["env"]["HWCI_WHEEL"] == shlex.split(install)[-1]
