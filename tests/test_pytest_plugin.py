# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin beside the plugins that try tests again: what is told is what really ran."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hwci.pytest_plugin
from hwci.ci.results.pytest_results import id_of
from hwci.contract.vocabulary import Verdict
from tests.support.pytest_running import (
    FLAKY,
    RERUNFAILURES,
    ROOT,
    SUITE,
    TRIED,
    XDIST,
    Run,
    boxed,
    counted,
    counted_tries,
    environment,
    run_plain,
    run_pytest,
)

WAYS = {
    "plain": (),
    "rerunfailures": RERUNFAILURES,
    "xdist": XDIST,
    "rerunfailures and xdist": RERUNFAILURES + XDIST,
    "flaky": FLAKY,
    "flaky and xdist": FLAKY + XDIST,
}


@pytest.fixture(scope="module", params=WAYS.values(), ids=list(WAYS))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_pytest(tmp_path_factory.mktemp("run"), *request.param, test_bench=SUITE)


def really_ran(run: Run) -> dict[str, tuple[str, int]]:
    return counted_tries([(id_of(nodeid), outcome) for nodeid, outcome in run.noted])


def test_the_plugin_reports_what_really_ran(run: Run) -> None:
    assert run.exit_code == 1, run.output
    assert counted(run.results) == really_ran(run)


def test_the_xml_has_what_really_ran(run: Run) -> None:
    assert counted(run.xml) == really_ran(run)


def test_tests_are_tried_as_often_as_their_plugins_promise(run: Run) -> None:
    attempts = {attempts for _, attempts in really_ran(run).values()}
    again = {"pytest_rerunfailures", "flaky.flaky_pytest_plugin"} & set(run.arguments)

    assert attempts == ({1, 2, 3} if again else {1})


def test_a_test_that_is_skipped_or_known_to_fail_is_no_item(run: Run) -> None:
    result = [attempt.test_id for attempt in run.results.attempts]

    assert run.results.skipped >= 3
    assert not [test for test in result if "skip" in test or "known_to_fail" in test]


def test_both_files_set_the_times_of_the_run(run: Run) -> None:
    begin, xml_begin = run.results.started_at, run.xml.started_at

    assert begin is not None
    assert xml_begin is not None
    assert abs((begin - xml_begin).total_seconds()) < 60
    assert run.results.duration_s > 0


BLAMES = (
    TRIED
    + """
import serial_like

@pytest.mark.hwci_verdict("device")
def test_marked():
    assert False

@pytest.mark.hwci_verdict("infra", reason="old relay")
def test_marked_and_set_up(setup_fails):
    pass

def test_at_run_time(hwci_verdict):
    hwci_verdict("device")
    hwci_verdict("infra", "relay did not click")
    assert False

@pytest.mark.hwci_verdict("device")
def test_says_otherwise_at_run_time(hwci_verdict):
    hwci_verdict("infra")
    assert False

def test_passes_all_the_same(hwci_verdict):
    hwci_verdict("infra")

def test_by_its_message():
    raise serial_like.SerialException("could not open port /dev/ttyUSB0: No such file")

def test_blames_nobody():
    assert False
"""
)
SERIAL_LIKE = "class SerialException(OSError): ..."


@pytest.mark.parametrize("way", ["plain", "xdist"])
def test_tests_blame_by_marker_and_by_fixture_and_both_files_say_so(
    tmp_path: Path, way: str
) -> None:
    run = run_pytest(tmp_path, *WAYS[way], test_b=BLAMES, serial_like=SERIAL_LIKE)

    for file in (run.results, run.xml):
        assert {item.id: item.verdict for item in boxed(file).tests} == {
            "test_b.test_marked": Verdict.DEVICE,
            "test_b.test_marked_and_set_up": Verdict.INFRA,
            "test_b.test_at_run_time": Verdict.INFRA,
            "test_b.test_says_otherwise_at_run_time": Verdict.INFRA,
            "test_b.test_passes_all_the_same": Verdict.UNKNOWN,
            "test_b.test_by_its_message": Verdict.INFRA,
            "test_b.test_blames_nobody": Verdict.UNKNOWN,
        }
    assert "relay did not click" in (tmp_path / "junit.xml").read_text()


@pytest.mark.parametrize("way", ["plain", "xdist"])
def test_a_test_records_its_board_and_log_and_both_files_say_so(tmp_path: Path, way: str) -> None:
    records = """
def test_board(record_property):
    record_property("serial", "0483:A1")
    record_property("log_url", "https://ci.example/7/a.log")
    record_property("log", "x" * 10_000)

def test_no_board():
    pass
"""
    run = run_pytest(tmp_path, *WAYS[way], "-W", "default", test_b=records)

    for file in (run.results, run.xml):
        assert {item.id: (item.board, item.log_url) for item in boxed(file).tests} == {
            "test_b.test_board": ("0483:A1", "https://ci.example/7/a.log"),
            "test_b.test_no_board": (None, None),
        }


def test_the_verdict_of_one_try_is_not_that_of_the_next(tmp_path: Path) -> None:
    blames_once = """
def test_two(request, hwci_verdict):
    if number(request) == 1:
        hwci_verdict("infra")
    assert False
"""
    run = run_pytest(tmp_path, *RERUNFAILURES, test_b=TRIED + blames_once)

    assert [attempt.verdict for attempt in run.results.attempts] == [
        Verdict.INFRA,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
    ]


@pytest.mark.parametrize(
    ("marker", "what"),
    [
        ("", "missing a required argument: 'verdict'"),
        ("('infra', 'old', 'relay')", "too many positional arguments"),
        ("('infra', why='old relay')", "got an unexpected keyword argument 'why'"),
        ("(['infra'])", "hwci_verdict is ['infra']: write one of"),
    ],
)
def test_a_marker_that_cannot_be_understood_is_explained(
    tmp_path: Path, marker: str, what: str
) -> None:
    module = f"import pytest\n@pytest.mark.hwci_verdict{marker}\ndef test_a(): pass\n"
    run = run_pytest(tmp_path, test_bench=module)

    assert what in run.output
    assert "TypeError:" not in run.output
    assert counted(run.results) == {"test_bench.test_a": ("fail", 1)}


def test_a_verdict_that_is_none_is_shown_with_those_there_are(tmp_path: Path) -> None:
    module = "import pytest\n@pytest.mark.hwci_verdict('me')\ndef test_a(): pass\n"
    run = run_pytest(tmp_path, test_b=module)

    assert "hwci_verdict is 'me': write one of device, infra, unknown" in run.output
    assert counted(run.results) == {"test_b.test_a": ("fail", 1)}


def test_a_module_that_cannot_be_collected_is_a_failure_once(tmp_path: Path) -> None:
    folder = tmp_path / "hil"
    run_pytest(folder, test_x="import nothing_of_that_name")
    run = run_pytest(tmp_path, "-p", "xdist.plugin", "-n2", "hil", "--rootdir=.")

    assert counted(run.results) == {"hil.test_x": ("fail", 1)} == counted(run.xml)


def test_parts_of_a_test_are_not_tests_and_fail_it(tmp_path: Path) -> None:
    module = """
def test_parts(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number != 1
def test_good_parts(subtests):
    with subtests.test(), subtests.test():
        pass
"""
    run = run_pytest(tmp_path, "-p", "pytest_rerunfailures", "--reruns=1", test_s=module)

    expected = {"test_s.test_parts": ("fail", 2), "test_s.test_good_parts": ("pass", 1)}
    assert counted(run.results) == expected == counted(run.xml)


DIES = """
import os
def test_before(): pass
def test_dies(): os._exit(3)
def test_after(): pass
"""


def test_a_run_that_dies_reports_what_ran_and_that_the_running_test_failed(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, test_d=DIES)

    assert not (tmp_path / "junit.xml").exists()
    assert counted(run.results) == {
        "test_d.test_before": ("pass", 1),
        "test_d.test_dies": ("fail", 1),
    }


def test_a_worker_that_dies_fails_its_test_and_the_others_run(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, *XDIST, test_d=DIES)

    assert counted(run.results) == {
        "test_d.test_before": ("pass", 1),
        "test_d.test_dies": ("fail", 1),
        "test_d.test_after": ("pass", 1),
    }


def test_workers_that_run_one_test_at_a_time_each_try_it_once(tmp_path: Path) -> None:
    module = """
import os, pathlib, time
def test_together():
    worker = os.environ["PYTEST_XDIST_WORKER"]
    pathlib.Path(worker).touch()
    end = time.monotonic() + 60
    while len(list(pathlib.Path().glob("gw*"))) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert worker == "gw0"
"""
    run = run_pytest(tmp_path, "-p", "xdist.plugin", "--dist=each", "--tx=2*popen", test_t=module)

    assert sorted(attempt.outcome.value for attempt in run.results.attempts) == ["fail", "pass"]


def test_the_xml_and_the_plugins_file_of_one_run_count_once(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, *RERUNFAILURES, test_bench=SUITE)

    both = {item.id: (item.outcome, item.attempts) for item in boxed(run.xml, run.results).tests}
    assert both == {item.id: (item.outcome, item.attempts) for item in boxed(run.results).tests}

    # On a fast machine, all tests end within half a millisecond.
    xml, results = run.folder / "junit.xml", run.folder / "results.json"
    xml.write_text(re.sub(r'\btime="[^"]*"', 'time="0.000"', xml.read_text()))
    results.write_text(
        re.sub(r'"duration_s": [^,}]*', '"duration_s": 0.000412', results.read_text())
    )
    fast = {item.id: (item.outcome, item.attempts) for item in boxed(run.xml, run.results).tests}
    assert fast == both


def test_a_test_that_fails_and_breaks_its_teardown_took_the_time_of_both(tmp_path: Path) -> None:
    module = """
import pytest, time
@pytest.fixture
def power():
    yield
    time.sleep(0.05)
    raise RuntimeError("still powered")
def test_twice(power):
    assert False
"""
    run = run_pytest(tmp_path, test_d=module)

    [of_xml], [of_plugin] = run.xml.attempts, run.results.attempts
    assert of_xml.duration_s >= 0.05
    assert of_xml.duration_s == pytest.approx(of_plugin.duration_s, abs=0.0015)
    assert [item.id for item in boxed(run.xml, run.results).tests] == ["test_d.test_twice"]


def test_what_runs_again_without_a_word_of_a_plugin_is_no_try(tmp_path: Path) -> None:
    module = """
import pathlib
def test_once():
    failed = pathlib.Path("failed").exists()
    pathlib.Path("failed").touch()
    assert failed
def test_passes(): pass
"""
    twice = ("--keep-duplicates", "test_d.py", "test_d.py")
    run = run_pytest(tmp_path, *twice, test_d=module)

    expected = {"test_d.test_once": ("fail", 1), "test_d.test_passes": ("pass", 1)}
    assert counted(run.results) == expected == counted(run.xml)


def test_a_test_that_a_person_stopped_says_nothing(tmp_path: Path) -> None:
    module = "def test_a(): pass\ndef test_b(): raise KeyboardInterrupt\n"
    run = run_pytest(tmp_path, test_k=module)

    assert run.exit_code == 2
    assert counted(run.results) == {"test_k.test_a": ("pass", 1)}


def test_a_line_that_was_cut_short_is_as_if_it_had_not_been_written(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, test_d="def test_a(): pass\ndef test_b(): pass\n")
    path = tmp_path / "results.json"
    content = path.read_bytes()
    whole = content[: content.index(b'{"tried": "test_d.py::test_b"') + 40]
    path.write_bytes(whole)

    assert counted(run.results) == {"test_d.test_a": ("pass", 1), "test_d.test_b": ("fail", 1)}


@pytest.mark.parametrize("flag", ["--collect-only", "--setup-only", "--setup-plan"])
def test_a_run_of_nothing_writes_nothing(tmp_path: Path, flag: str) -> None:
    run_pytest(tmp_path, flag, test_a="def test_a(): pass\n")

    assert not (tmp_path / "results.json").exists()


def test_results_of_an_earlier_run_are_gone_when_a_run_begins(tmp_path: Path) -> None:
    run_pytest(tmp_path, test_a="def test_a(): pass\n")
    run = run_pytest(tmp_path, "-k", "nothing")

    assert counted(run.results) == {}


def test_a_file_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    run = run_plain(
        tmp_path, "-p", "hwci.pytest_plugin", f"--hwci-results={tmp_path}", test_a="def test_a(): 0"
    )

    assert run.exit_code == 4
    assert "--hwci-results cannot be written" in run.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_warned_of_and_fails_no_test(tmp_path: Path) -> None:
    run = run_plain(
        tmp_path, "-p", "hwci.pytest_plugin", "--hwci-results=/dev/full", test_a="def test_a(): 0"
    )

    assert run.exit_code == 0, run.output
    assert "hwci: /dev/full is not whole: [Errno 28] No space left on device" in run.output


def test_plugins_that_undo_each_other_are_noted(tmp_path: Path) -> None:
    both = ("-p", "pytest_rerunfailures", "-p", "flaky.flaky_pytest_plugin", "-v")
    run = run_pytest(tmp_path, *both, test_a="def test_a(): 0")

    assert "hwci: flaky and pytest-rerunfailures undo each other" in run.output


def test_the_plugin_comes_with_hwci_and_does_nothing_unasked(tmp_path: Path) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    entry_points = declared["project"]["entry-points"]["pytest11"]
    installed = tmp_path / "site" / "hwci-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: hwci\nVersion: 0\n")
    lines = "\n".join(f"{name} = {module}" for name, module in entry_points.items())
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{lines}\n")
    (tmp_path / "test_a.py").write_text(
        "import sys, pytest\n"
        "@pytest.mark.hwci_verdict('infra')\n"
        "def test_a(hwci_verdict): assert 'pydantic' not in sys.modules\n"
    )
    env = environment(tmp_path)
    env["PYTHONPATH"] = os.pathsep.join([str(installed.parent), env["PYTHONPATH"]])
    others = [f"-pno:{name}" for name in ("flaky", "rerunfailures", "hypothesispytest", "aiohttp")]

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--strict-markers", *others, "-p", "no:schemathesis"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert sorted(path.name for path in tmp_path.glob("*.json")) == []
    assert hwci.pytest_plugin.__name__ in entry_points.values()


def test_importing_the_plugin_is_light() -> None:
    code = (
        "import sys, pytest, _pytest.config; before = set(sys.modules); import hwci.pytest_plugin;"
        "import json; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    packages = {name.partition(".")[0] for name in json.loads(done.stdout)}

    assert packages - set(sys.stdlib_module_names) == {"hwci"}


def test_failures_of_a_try_are_worded_as_in_the_xml(tmp_path: Path) -> None:
    module = TRIED + "def test_a(setup_fails): pass\ndef test_b(): raise RuntimeError('silent')\n"
    run_pytest(tmp_path, test_w=module)

    lines = (tmp_path / "results.json").read_text().splitlines()
    messages = [line["message"] for line in map(json.loads, lines) if line.get("outcome") == "fail"]
    assert messages == ['failed on setup with "ConnectionError: no relay"', "RuntimeError: silent"]


def test_a_broken_byte_of_a_device_costs_no_result(tmp_path: Path) -> None:
    module = (
        "import pytest\n"
        "def test_a(): pytest.fail('no relay ' + b'\\xff'.decode('ascii', 'surrogateescape'))\n"
        "def test_b(): pass\n"
    )
    run = run_pytest(tmp_path, test_n=module)

    assert counted(run.results) == {"test_n.test_a": ("fail", 1), "test_n.test_b": ("pass", 1)}
    assert run.results.faults == ()
