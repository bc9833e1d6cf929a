# SPDX-License-Identifier: Apache-2.0
"""Test the tests: change the code in small ways, and see whether a test fails (`make mutation`).

mutmut makes the changes (mutants) and runs the tests that reach them. This module decides which
code and which tests make a room, and draws as many mutants of each by a seed, so that a run can be
repeated. Each room is a project of its own for mutmut, in `mutants/`.
"""

import argparse
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MUTMUT = Path(sys.executable).with_name("mutmut")
KILLED_SHARE = 0.9
KILLED = ("killed", "timeout")
"""What mutmut calls a mutant that a test found: it failed, or took far too long."""

OUTPUT_LINES = 60
"""Shown of what mutmut prints when the tests fail without any mutant, or it tried not all of them:
the rest is its spinner."""
SLOW = (
    "tests/server/test_refresh.py::"
    "test_of_many_uses_at_once_one_wins_and_then_everybody_of_that_user_is_out"
)
"""A race that takes as long as all other tests, and finds what `make test` finds anyway."""

IMPORTS = "tests/engine/test_purity.py"
"""A mutant imports mutmut."""


class Room(NamedTuple):
    """Code, as patterns of files, and the tests that are about it."""

    code: Sequence[str]
    tests: Sequence[str]


ROOMS: Mapping[str, Room] = {
    "rules": Room(["hwci/engine/rules/*"], ["tests/engine", "tests/reference"]),
    "auth": Room(
        [
            "hwci/server/security/[!r]*",
            "hwci/server/services/access.py",
            "hwci/server/services/keys.py",
            "hwci/server/services/people/sessions.py",
            "hwci/server/http/cookies.py",
        ],
        [
            "tests/server/test_access.py",
            "tests/server/test_access_tokens.py",
            "tests/server/test_boxes.py",
            "tests/server/test_cookie_sessions.py",
            "tests/server/test_credential_kinds.py",
            "tests/server/test_guessing.py",
            "tests/server/test_members.py",
            "tests/server/test_operating.py",
            "tests/server/test_own_account.py",
            "tests/server/test_refresh.py",
            "tests/server/test_secrets.py",
            "tests/server/test_serving.py",
            "tests/server/test_sso_refusals.py",
            "tests/server/test_stream_ends.py",
            "tests/spec/test_authentication.py",
            "tests/spec/test_ci_keys.py",
        ],
    ),
    "limits": Room(
        [
            "hwci/server/security/rate_limiter.py",
            "hwci/server/services/rate_limits.py",
            "hwci/server/http/rate_limits.py",
            "hwci/server/http/bodies/[!a]*",  # apart.py is another process: no mutant is met there
        ],
        [
            "tests/server/test_bodies.py",
            "tests/server/test_guessing.py",
            "tests/server/test_json_oddities.py",
            "tests/server/test_large_bodies.py",
            "tests/server/test_rate_limits.py",
            "tests/server/test_slow_clients.py",
            "tests/spec/test_limits.py",
            "tests/spec/test_rate_limits.py",
        ],
    ),
    "store": Room(["hwci/client/store/*"], ["tests/client/store"]),
}


def _mutmut(room: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MUTMUT, *arguments],
        cwd=ROOT / "mutants" / room,
        capture_output=True,
        text=True,
        check=False,
    )


def _set_up(name: str) -> None:
    """Make a room's project: links to all there is, and mutmut's settings."""
    folder = ROOT / "mutants" / name
    folder.mkdir(parents=True, exist_ok=True)
    for entry in ("hwci", "tests", "docs", "examples", "pyproject.toml"):
        (folder / entry).unlink(missing_ok=True)
        (folder / entry).symlink_to(ROOT / entry)
    settings = {
        "source_paths": ["hwci"],
        "also_copy": ["docs", "examples"],
        "only_mutate": ROOMS[name].code,
        "pytest_add_cli_args_test_selection": ROOMS[name].tests,
        "pytest_add_cli_args": [f"--deselect={SLOW}", f"--ignore={IMPORTS}"],
    }
    lines = (f"{key} =\n  " + "\n  ".join(values) for key, values in settings.items())
    (folder / "setup.cfg").write_text("[mutmut]\n" + "\n".join(lines) + "\n")


def _statuses(room: str) -> dict[str, str]:
    """Return all mutants of a room, and what mutmut says of each."""
    listed = _mutmut(room, "results", "--all", "true").stdout
    return dict(re.findall(r"^ +(\S+): (.+)$", listed, re.MULTILINE))


def _end(done: subprocess.CompletedProcess[str]) -> str:
    return "\n".join((done.stdout + done.stderr).splitlines()[-OUTPUT_LINES:])


def _drawn(room: str, seed: int, each: int) -> list[str]:
    """Return the mutants to try. Raises `SystemExit` if the tests fail without any."""
    made = _mutmut(room, "run", "none of them")
    if "nothing matches" not in made.stderr:
        sys.exit(_end(made))
    names = sorted(_statuses(room))
    return random.Random(seed).sample(names, min(each, len(names)))


def _try(room: str, names: Iterable[str]) -> Counter[str]:
    """Try mutants; print how many were killed, and the others with their diffs."""
    tried = _mutmut(room, "run", *names)
    statuses = _statuses(room)
    counts = Counter(statuses[name] for name in names)
    print(f"{room}: {dict(counts)}", flush=True)
    if counts["not checked"]:
        print(_end(tried), flush=True)
    for name in sorted(names):
        if statuses[name] not in KILLED:
            print(_mutmut(room, "show", name).stdout, flush=True)
    return counts


def main() -> int:
    """Try mutants of each room; fail if too few are killed."""
    options = argparse.ArgumentParser(description="Test the tests by mutants of the code.")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--each", type=int, default=100, help="mutants of each room")
    options.add_argument("rooms", nargs="*", default=list(ROOMS), help=", ".join(ROOMS))
    given = options.parse_args()
    total: Counter[str] = Counter()
    for room in given.rooms:
        _set_up(room)
        total += _try(room, _drawn(room, given.seed, given.each))
    killed = sum(total[status] for status in KILLED)
    print(f"{killed} of {total.total()} killed, {total['timeout']} of them by time")
    return 0 if killed >= KILLED_SHARE * total.total() > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
