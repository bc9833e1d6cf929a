# SPDX-License-Identifier: Apache-2.0
"""`hwci quarantine`: files that pytest and CTest themselves read, and a list for Twister. Nothing
is left out but what the server allows.
"""

import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import which
from uuid import UUID

import pytest
import yaml

from hwci.cli.terminal.quarantine import Form, Written, written
from hwci.client import Client, calls
from hwci.contract.known_failures import KnownBy, KnownTest
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import Claim
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import PRODUCT, REPO, SUITE, report

UNTIL = datetime(2031, 1, 31, tzinfo=UTC)
STATEMENT = Statement(
    claim=Claim.ONE_BOX,
    boxes=("bench-1",),
    others=(),
    chance=0.9,
    failed=3,
    runs=30,
    others_failed=0,
    others_runs=30,
    since=None,
    lost_here=0,
)


def row_of(test_id: str, left_out: str | None = None, ticket: str = "FW-7") -> KnownTest:
    by = KnownBy(id=UUID(int=1), ticket=ticket, until=UNTIL, says="known")
    return KnownTest(
        repo_key=REPO,
        suite=SUITE,
        test_id=test_id,
        known=by,
        failures=3,
        statement=STATEMENT,
        says="Flaky on bench-1 only",
        left_out=left_out,
    )


def file(form: Form, *tests: str | KnownTest, others: Collection[str] = ()) -> Written:
    rows = [row_of(test) if isinstance(test, str) else test for test in tests]

    def starting(start: str) -> list[str]:
        return [name for name in others if name.startswith(start)]

    return written(form, rows, starting)


@pytest.mark.parametrize("form", Form)
def test_a_test_that_must_be_run_is_in_no_file(form: Form) -> None:
    made = file(form, row_of("a.b.c", "it is broken"), "a.b\nc.d", row_of("a.b.d", None, "x\ny"))
    assert made.lines == []
    assert dict(made.left_out) == {
        "a.b.c": "it is broken",
        "a.b\nc.d": "its name or its ticket has letters that a file cannot hold",
        "a.b.d": "its name or its ticket has letters that a file cannot hold",
    }


SOURCE = """
import pytest

class TestEcho:
    def test_x(self): ...
    def test_y(self): ...

@pytest.mark.parametrize("text", ["a b.c", "d"])
def test_long(text): ...

def test_longer(): ...
"""


def test_pytest_deselects_these_tests_alone(tmp_path: Path) -> None:
    (tmp_path / "hil").mkdir()
    (tmp_path / "hil" / "test_uart.py").write_text(SOURCE)
    tests = ("hil.test_uart.TestEcho.test_x", "hil.test_uart.test_long[a b.c]")
    made = file(Form.PYTEST, *tests)
    (tmp_path / "known.txt").write_text("\n".join(made.lines) + "\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "@known.txt", "-v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    ran = re.findall(r"::(\S+) PASSED", done.stdout)
    assert ran == ["TestEcho::test_y", "test_long[d]", "test_longer"]
    assert "--deselect=# FW-7 until 2031-01-31" in made.lines


def test_pytest_would_deselect_what_begins_alike_so_nothing_is_written() -> None:
    made = file(Form.PYTEST, "hil.test_uart.test_x", others=["hil.test_uart.test_xy"])
    assert made.lines == []
    assert made.left_out == [
        ("hil.test_uart.test_x", "pytest would leave out hil.test_uart.test_xy, too")
    ]
    assert file(Form.PYTEST, "test_x").left_out[0][1].endswith("in which file it is")


@pytest.mark.skipif(which("ctest") is None, reason="ctest is not installed")
def test_ctest_leaves_out_these_tests_alone(tmp_path: Path) -> None:
    names = ("boot [x]", 'say "$HOME" \\', "boot")
    quoted = (f"add_test([=[{name}]=] [=[{sys.executable}]=] -c pass)" for name in names)
    (tmp_path / "CTestTestfile.cmake").write_text("\n".join(quoted))
    made = file(Form.CTEST, names[0], names[1], "a;b", "a]=]b")
    (tmp_path / "CTestCustom.cmake").write_text("\n".join(made.lines))
    done = subprocess.run(["ctest"], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert re.findall(r"Test +#\d+: (.+?) \.+", done.stdout) == ["boot"]
    assert [name for name, _ in made.left_out] == ["a;b", "a]=]b"]
    assert "# FW-7 until 2031-01-31" in made.lines


def test_twister_leaves_out_scenarios_of_which_each_test_may_be() -> None:
    """Twister compares each pattern of `scenarios` with a whole name."""
    made = file(Form.TWISTER, "kernel.sem.sema.take", others=["kernel.timer.tick"])
    [entry] = yaml.safe_load("\n".join(made.lines))
    assert entry["comment"] == "FW-7 until 2031-01-31"

    def matched(scenario: str) -> bool:
        return any(re.fullmatch(pattern, scenario) for pattern in entry["scenarios"])

    assert matched("kernel.sem")
    assert not matched("kernel.sem2")
    assert not matched("kernelxsem")
    assert not matched("kernel")
    other = file(Form.TWISTER, "kernel.sem.take", others=["kernel.sem.give"])
    assert (other.lines, len(other.left_out)) == ([], 1)


@pytest.fixture(scope="module")
def flaky(server: RunningServer) -> Iterator[None]:
    """Thirty commits on two boxes: `hil.test_uart.test_echo` fails on one of them now and then,
    `hil.test_spi.test_id` from a commit on.
    """
    with Client(server.url, ci_key=server.ci_key) as ci:
        for number in range(30):
            for place, box in enumerate(("bench-1", "bench-2")):
                outcomes = {
                    "hil.test_uart.test_echo": "fail" if not place and number % 4 == 2 else "pass",
                    "hil.test_spi.test_id": "fail" if number > 20 else "pass",
                }
                run = report(number + 1, f"{number:040x}", outcomes)
                at = run.started_at + timedelta(hours=-number, minutes=number)
                fields = {"run_id": 2 * number + place, "box_key": box, "started_at": at}
                ci.send(calls.report_run(run.model_copy(update={**fields, "ended_at": at})))
    with Client(server.url, token=server.token) as person:
        until = datetime.now(UTC) + timedelta(days=9)  # noqa: TID251 - as the server's clock
        made = person.send(calls.add_known_failure(server.org_id, "FW-7", until, "hil.*"))
        yield
        person.send(calls.remove_known_failure(server.org_id, made.id))


@pytest.mark.clock
@pytest.mark.usefixtures("flaky")
def test_the_command_writes_what_may_be_left_out_and_notes_the_rest(signed_in: Command) -> None:
    code, out, err = signed_in("quarantine", "--format", "pytest", "--product", PRODUCT)

    assert code == 0
    assert out.splitlines()[1:] == ["--deselect=hil/test_uart.py::test_echo"]
    assert out.startswith("--deselect=# FW-7 until ")
    assert "Not in quarantine: hil.test_spi.test_id: it is broken" in err
    missing = signed_in("quarantine", "--format", "ctest")
    assert (missing.code, "No product is named" in missing.err) == (2, True)
