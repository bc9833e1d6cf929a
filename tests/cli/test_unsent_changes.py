# SPDX-License-Identifier: Apache-2.0
"""`hwci failures show` reads what a run did not send from the clone that it is called in."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.wire.reports import RunReport, SuiteConfiguration
from tests.cli.conftest import Command
from tests.support.clones import Story, git
from tests.support.running import RunningServer
from tests.support.scene import report

REPO = "acme/unsent"
CONFIGURATION = {"firmware_paths": ["fw/**"], "harness_paths": ["hil/**"], "merge_trigger": True}
LISTED = "had sent the changes from {} to {}, as git has them (2 commits)"
IN_A_CLONE = f"in a clone of {REPO} with its commits, this command reads it from git.\n"


def cloned(folder: Path, files: Sequence[Sequence[bytes]]) -> list[str]:
    """Clone a line of commits, each with its files, into the folder of the command."""
    story, last = Story(), 0
    for one in files:
        last = story.commit([last] if last else [], dict.fromkeys(one, ("100644", b"%d" % last)))
    story.branches["main"] = last
    made = story.made(folder / "origin")
    git(folder, "clone", "--quiet", (folder / "origin").as_uri(), str(folder / "new"))
    for path in (folder / "new").iterdir():
        path.rename(folder / path.name)
    return [made[number] for number in sorted(made)]


def failed_unsent(server: RunningServer, suite: str, shas: Sequence[str], fix: bytes) -> None:
    """Report a failure on the third commit, whose run sends no changes, and its fix by a file of
    the fourth.
    """
    of = {"repo_key": REPO, "suite": suite}
    listed = {"sha": shas[3], "subject": "Mend it", "files": fix.decode().split()}
    sent = {"base_sha": shas[2], "commits": [listed]}
    with Client(server.url, ci_key=server.ci_key) as client:
        body = SuiteConfiguration.model_validate(of | CONFIGURATION)
        client.send(calls.put_suite_config(body))
        for number, (place, outcome) in enumerate([(0, "pass"), (2, "fail"), (3, "pass")], 1):
            run = report(number, shas[place], {"boot": outcome}).model_dump(mode="json")
            run |= of | {"changes": sent if place == 3 else None}
            client.send(calls.report_run(RunReport.model_validate(run, strict=False)))


def shown(signed_in: Command, suite: str) -> tuple[str, str]:
    product = f"{REPO}:{suite}"
    listed = signed_in("failures", "list", "--product", product, "-o", "csv").out
    failure_id = listed.splitlines()[1].split(",")[0]
    code, out, err = signed_in("failures", "show", failure_id)
    assert code == 0
    return " ".join(out.split()), err


@pytest.mark.parametrize(
    ("suite", "files", "would_be"),
    [
        ("fw", b"fw/spi.c", "Would be a real firmware bug if"),
        ("hil", b"hil/spi.py", "Would be the bench's or the harness's fault if"),
    ],
)
def test_what_a_run_did_not_send_is_read_from_the_clone(
    signed_in: Command,
    server: RunningServer,
    tmp_path: Path,
    suite: str,
    files: bytes,
    would_be: str,
) -> None:
    shas = cloned(tmp_path, [[b"fw/a.c"], [b"README"], [files], [b"fw/b.c"]])
    failed_unsent(server, suite, shas, b"fw/b.c")

    out, err = shown(signed_in, suite)

    assert f"{would_be} run 2 on bench-1 {LISTED.format(shas[0][:12], shas[2][:12])}" in out
    assert "and these were changes of" not in out
    assert "git" not in err


def test_what_git_has_may_leave_the_class(
    signed_in: Command, server: RunningServer, tmp_path: Path
) -> None:
    shas = cloned(tmp_path, [[b"fw/a.c"], [b"README"], [b"fw/b.c"], [b"fw/b.c", b"hil/b.py"]])
    failed_unsent(server, "both", shas, b"fw/b.c hil/b.py")

    out, err = shown(signed_in, "both")

    assert "had sent the changes" not in out
    stays = f"What git has from {shas[0][:12]} to {shas[2][:12]} would not change the class.\n"
    assert stays in err


@pytest.mark.parametrize("clone", [None, "another", "unrelated"])
def test_elsewhere_what_changed_is_assumed_and_one_line_says_how_git_tells_it(
    signed_in: Command, server: RunningServer, tmp_path: Path, clone: str | None
) -> None:
    shas = [f"{number}" * 40 for number in range(1, 5)]
    if clone is not None:
        made = cloned(tmp_path, [[b"fw/a.c"], [b"README"], [b"fw/b.c"], [b"fw/c.c"]])
        if clone == "unrelated":  # the commits are there, in another order
            shas = [made[2], made[1], made[0], made[3]]
    failed_unsent(server, f"not-{clone}", shas, b"fw/b.c")

    out, err = shown(signed_in, f"not-{clone}")

    assert "and these were changes of firmware alone" in out
    assert err.count(IN_A_CLONE) == 1
