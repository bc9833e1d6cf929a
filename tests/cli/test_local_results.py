# SPDX-License-Identifier: Apache-2.0
"""`hwci report` shows what result files hold as `hwci report-run` would report it, and needs
nothing for that.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.support.real_results import field_results, real_results

SAMPLES = Path(__file__).parents[1] / "ci" / "samples"
FILES = sorted(path for path in SAMPLES.rglob("*") if path.suffix in {".xml", ".json"})
HEAD = (
    *("--repo-key=acme/fw", "--workflow=hil", "--run-id=1", "--trigger=nightly", "--branch=main"),
    *("--sha=0123456789", "--no-changes", "--dry-run", "--messages"),
)
TWISTER, PYTEST = SAMPLES / "twister.json", SAMPLES / "ctrf" / "pytest-0.6.1.json"
RULE = '[[verdict]]\nmessage = "did not answer"\nverdict = "infra"\n'
HOSTILE = "](x) <img src=x> | `a` **b** ![i](u) @all\n::warning::x\x1b[31m\u202e &amp; #1"


def ctrf(path: Path, *tests: dict[str, Any]) -> Path:
    whole = [{"status": "failed", "duration": 5} | test for test in tests]
    path.write_text(json.dumps({"reportFormat": "CTRF", "results": {"tests": whole}}))
    return path


def shown(command: Command, *files: object) -> Any:
    return json.loads(command("report", "--json", *map(str, files)).out)


def reported(command: Command, *files: object) -> list[dict[str, Any]]:
    """Return the tests that a report of the files would have, each with its box."""
    code, out, err = command("report-run", *HEAD, *map(str, files), HWCI_BOX="bench")
    assert code == 0, err
    bodies, at = [], 0
    while at < len(out.rstrip()):
        body, end = json.JSONDecoder().raw_decode(out[at:])
        bodies.append(body)
        at += end + 1
    return [{"box": body["box_key"], **test} for body in bodies for test in body["tests"]]


def alike(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return shown tests as a report has them."""
    return [
        {
            "box": item["boxKey"] or "bench",
            **{name: item[name] for name in ("id", "outcome", "attempts")},
            "duration_s": item["durationS"],
            **{name: item[name] for name in ("message", "board") if item[name]},
            **({"verdict": item["verdict"]} if item["outcome"] == "fail" else {}),
        }
        for item in items
    ]


def in_full(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return tests of a report with the verdict that a failure has without one."""
    return [
        {**({"verdict": "unknown"} if test["outcome"] == "fail" else {}), **test} for test in tests
    ]


# As a report would have it


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_what_is_shown_is_what_would_be_reported(cli: Command, path: Path) -> None:
    local = cli("report", "--json", str(path))
    run = cli("report-run", *HEAD, "--box=bench", str(path))

    assert alike(json.loads(local.out)["items"]) == in_full(reported(cli, path))
    faults = json.loads(local.out)["faults"]
    assert all(f"warning: {line}\n" in run.err and line in local.err for line in faults)
    assert local.code in ({0, 2} if faults else {0})


def test_files_of_several_boxes_and_tries_in_several_files_are_one_run(
    cli: Command, tmp_path: Path
) -> None:
    test = '<testsuite><testcase name="a">{}</testcase><testcase name="b"/></testsuite>'
    (tmp_path / "hil.xml").write_text(test.format("<failure/>"))
    (tmp_path / "hil-rerun.xml").write_text(test.format(""))
    files = ("hil.xml", "hil-rerun.xml", f"b2={PYTEST}", f"b3={TWISTER}")

    local = shown(cli, *files)

    assert alike(local["items"]) == in_full(reported(cli, *files))
    assert {"id": "a", "outcome": "pass", "attempts": 2}.items() <= local["items"][0].items()
    assert local["tests"] == {"total": 16, "passed": 7, "failed": 9, "retried": 4}
    assert (local["skipped"], local["conclusion"]) == (6, "failure")


def test_the_rules_of_the_repository_count(cli: Command, tmp_path: Path) -> None:
    verdicts = [
        {item["id"]: item["verdict"] for item in shown(cli, PYTEST)["items"]}[
            "hil.test_uart.test_board"
        ]
        for rules in ("", RULE)
        if (tmp_path / "hwci.toml").write_text(rules) is not None
    ]

    assert verdicts == ["unknown", "infra"]


def test_platforms_may_be_boxes_without_the_name_of_any(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "hwci.toml").write_text('[tests]\nplatforms = "as-boxes"\n')

    boxes = {item["boxKey"] for item in shown(cli, TWISTER)["items"]}

    assert boxes
    assert all(name and "box" not in name and not name.startswith(":") for name in boxes)


@pytest.mark.parametrize("version", ["first", "last"])
def test_results_of_real_boards_are_shown_as_they_would_be_reported(
    cli: Command, version: str
) -> None:
    folder = real_results()[0 if version == "first" else -1]
    files = [f"{path.name.split('.')[0]}={path}" for path in sorted(folder.glob("*.gz"))]

    local = shown(cli, *files)

    assert alike(local["items"]) == in_full(reported(cli, *files))
    assert local["tests"]["total"] > 100


def test_files_from_the_field_are_shown_as_they_would_be_reported(cli: Command) -> None:
    for path in field_results():
        local = shown(cli, path)
        assert alike(local["items"]) == in_full(reported(cli, path))
        assert local["items"]


# What is printed


def test_failures_come_first_then_what_passed_on_a_retry_then_the_counts(cli: Command) -> None:
    code, out, err = cli("report", f"b1={TWISTER}", str(PYTEST), COLUMNS=None)
    rows = [line.split("\t") for line in out.splitlines()]

    assert code == 0
    assert rows[0] == [
        *("Test", "Box", "Outcome", "Attempts", "Duration", "Verdict", "Board", "Message")
    ]
    assert rows[1][:6] == ["kernel.common.mutex.unlock", "b1", "fail", "1", "0.1 s", "device"]
    assert rows[1][6] == "0240000034544e45"
    assert [row[2] for row in rows[1:-1]] == ["fail"] * 9 + ["pass"] * 2
    assert rows[-2][:4] == ["hil.test_uart.TestUart.test_flow", "", "pass", "2"]
    assert out.endswith(
        "\n14 tests on b1 and an unnamed one: 5 passed, 9 failed (1 device, 4 infra, 4 unknown),"
        " 2 passed on a retry, 6 skipped.\n"
    )
    assert "warning: 1 test had no firmware that was built" in err
    assert "--junit" not in err


def test_a_terminal_shows_no_column_that_says_nothing(cli: Command, tmp_path: Path) -> None:
    path = ctrf(tmp_path / "a.json", {"name": "a", "message": "No echo"})

    out = cli("report", str(path), COLUMNS="120").out

    assert out.split("\n")[0].split() == [
        *("Test", "Outcome", "Attempts", "Duration", "Verdict", "Message")
    ]


def test_files_of_no_named_box_are_no_box(cli: Command, tmp_path: Path) -> None:
    path = ctrf(tmp_path / "a.json", {"name": "a", "status": "passed"})

    assert cli("report", str(path)).out.startswith("1 test: ")
    assert cli("report", f"b1={path}", f"b2={path}", str(path)).out.startswith(
        "3 tests on 2 boxes and an unnamed one: "
    )


def test_what_all_passed_is_a_line_of_counts(cli: Command, tmp_path: Path) -> None:
    path = ctrf(tmp_path / "a.json", {"name": "a", "status": "passed"})

    code, out, err = cli("report", f"b={path}")

    assert out == "1 test on b: 1 passed, 0 failed, 0 passed on a retry, 0 skipped.\n"
    assert (code, err) == (0, "")  # when such a run began is asked of a report


def test_failures_that_nothing_blames_are_noted(cli: Command, tmp_path: Path) -> None:
    path = ctrf(tmp_path / "a.json", {"name": "a"})

    assert "note: No verdict: 1 failed test blamed neither" in cli("report", str(path)).err


def test_markdown_has_the_failures_the_retries_the_counts_and_the_notes(
    cli: Command, tmp_path: Path
) -> None:
    (tmp_path / "cut.json").write_text(TWISTER.read_text().rstrip()[:-30])

    out = cli("report", "--markdown", "cut.json").out

    lines = out.splitlines()
    assert lines[:2] == ["### Test results", ""]
    assert lines[2] == "| Failed test | Attempts | Verdict | Board | Message |"
    row = "| kernel.common.mutex.unlock | 1 | device | 0240000034544e45 | Testsuite failed |"
    assert row in lines
    at = lines.index("| Passed on a retry | Attempts |")
    assert lines[at + 2] == "| sample.hello | 3 |"
    assert "- 5 tests&#58; 2 passed, 3 failed &#40;1 device, 2 infra&#41;" in out
    assert "before that counted&#59; what follows is lost" in lines[-1]


def test_a_table_of_markdown_is_cut_and_says_so(cli: Command, tmp_path: Path) -> None:
    path = ctrf(tmp_path / "a.json", *({"name": f"t{at}"} for at in range(1_234)))

    lines = cli("report", "--markdown", str(path)).out.splitlines()

    assert sum(line.startswith("| t") for line in lines) == 100
    assert "… 1,134 more" in lines


def test_no_name_or_message_acts_in_markdown_or_in_a_terminal(cli: Command, tmp_path: Path) -> None:
    path = ctrf(tmp_path / "a.json", {"name": HOSTILE, "message": HOSTILE})

    written = cli("report", "--markdown", f"{HOSTILE.replace('=', '')}={path}")
    drawn = cli("report", str(path), COLUMNS="200")

    assert (written.code, drawn.code) == (0, 0)
    [row] = [line for line in written.out.splitlines() if "img" in line and line[0] == "|"]
    assert not set(row.replace(" | ", "")[2:-2]) & set("<>[]()`*_~!@\x1b\u202e|")
    assert "\x1b[31m" not in drawn.out
    assert not any(line.startswith("::") for line in (drawn.out + written.out).splitlines())


# Exit codes, and what it needs


def test_the_tests_do_not_decide_the_exit_code(cli: Command) -> None:
    assert cli("report", str(TWISTER)).code == 0


@pytest.mark.parametrize("form", [(), ("--json",), ("--markdown",)])
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("none.xml", "none.xml: There is no such file."),
        ("*.nothing", "*.nothing: No file matches."),
        ("odd.json", "odd.json: It is JSON without results of a known format."),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_the_others_are_shown(
    cli: Command, tmp_path: Path, name: str, line: str, form: tuple[str, ...]
) -> None:
    (tmp_path / "odd.json").write_text("{}")

    code, out, err = cli("report", *form, f"b1={name}", f"b2={TWISTER}")

    assert code == 2
    assert "mutex.unlock" in out
    assert f"warning: {line}" in err
    assert err.endswith(
        "error: 1 result file cannot be read\n"
        "cause: each is named above\n"
        "fix: Correct it, or leave it out\n"
    )


def test_a_file_that_breaks_off_is_read_as_far_as_it_goes(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text(TWISTER.read_text().rstrip()[:-30])

    code, out, err = cli("report", "cut.json")

    assert (code, "5 tests" in out) == (0, True)
    assert "what follows is lost" in err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "hwci report needs [BOX=]FILE"),
        (("",), "--junit or FILE names no result file"),
        (("--json", "--markdown", "a.xml"), "The output can have one form only"),
    ],
)
def test_a_wrong_call_is_wrong_usage(cli: Command, arguments: tuple[str, ...], error: str) -> None:
    code, out, err = cli("report", *arguments)

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {error}\n")


def test_a_broken_project_file_is_wrong_usage(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "hwci.toml").write_text("[[verdict]]\nmessage = 3\n")

    code, out, err = cli("report", str(TWISTER))

    assert (code, out) == (2, "")
    assert err.startswith("error: hwci.toml cannot be read\n")


def test_nothing_is_sent_kept_or_written(cli: Command, tmp_path: Path) -> None:
    shutil.copy(TWISTER, tmp_path / "a.json")
    settings = {"HWCI_URL": "http://127.0.0.1:9", "HWCI_CI_KEY": "hwci_ci_x", "CI": "true"}
    summary = tmp_path / "summary.md"
    github = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}

    answer = cli("report", "a.json", **settings, **github)

    assert answer.code == 0
    assert cli("report", "a.json") == answer
    assert cli("spool", "list", "--json").out.strip() == "[]"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
