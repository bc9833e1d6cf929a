# SPDX-License-Identifier: Apache-2.0
"""The limits of the API that the dashboard repeats are the API's (spec, "Limits"). Each is read out
of the file that holds it, so that a limit that changes is noticed where it was copied.
"""

import re
from pathlib import Path

import pytest

import hwci.server.web
from hwci.wire import limits

SCRIPTS = Path(hwci.server.web.__file__).with_name("static") / "js"
COPIES = [
    ("asking.js", r"const LIST_ROWS = (\d+);", [limits.PAGE_LIMIT_MAX]),
    ("parts/frame/scope.js", r"const DAYS_DEFAULT = (\d+);", [limits.DAYS_DEFAULT]),
    ("parts/table/table.js", r'maxlength="(\d+)"', [limits.SEARCH_MAX]),
    ("pages/run/tests.js", r"const SEARCH_MAX = (\d+);", [limits.SEARCH_MAX]),
    ("parts/form/field.js", r"minlength: (\d+)", [limits.PASSWORD_MIN]),
    ("parts/form/field.js", r"At least (\d+) characters", [limits.PASSWORD_MIN]),
    ("pages/runs.js", r"At least (\d+) characters", [limits.SHA_START_MIN]),
    ("pages/runs/filters.js", r"\{(\d+),(\d+)\}", [limits.SHA_START_MIN, limits.SHA_MAX]),
    (
        "pages/runs/filters.js",
        r'maxlength="(\d+)"',
        [*[limits.NAME_MAX] * 2, limits.SHA_MAX, len(str(limits.INTEGER_MAX))],
    ),
    ("pages/runs/filters.js", r"From (\d+) digits", [limits.SHA_START_MIN]),
    ("pages/no_organization.js", r'maxlength="(\d+)"', [limits.NAME_MAX]),
    ("parts/frame/finding.js", r'maxlength="(\d+)"', [limits.SEARCH_MAX]),
    ("parts/frame/finder.js", r"\{(\d+),(\d+)\}\$/i", [limits.SHA_START_MIN, limits.SHA_MAX]),
    ("parts/frame/finder.js", r"commit, (\d+) characters", [limits.SHA_START_MIN]),
    ("pages/boxes/adding.js", r'maxlength="(\d+)"', [limits.NAME_MAX]),
    ("pages/boxes/managing.js", r'maxlength="(\d+)"', [limits.NAME_MAX]),
    ("parts/reviews/words.js", r"maxlength: (\d+)", [limits.NOTE_MAX, limits.URL_MAX]),
    ("pages/boxes/notes.js", r'maxlength="(\d+)"', [limits.NOTE_MAX]),
]


@pytest.mark.parametrize(("name", "pattern", "expected"), COPIES)
def test_a_limit_in_the_dashboard_is_the_apis(name: str, pattern: str, expected: list[int]) -> None:
    found = re.findall(pattern, (SCRIPTS / name).read_text(encoding="utf-8"))
    numbers = [
        int(one) for match in found for one in ([match] if isinstance(match, str) else match)
    ]
    assert numbers == expected


def test_every_length_that_a_field_allows_is_held_against_the_api() -> None:
    length = re.compile(r"\b(?:max|min)length\b")
    repeating = {
        path.relative_to(SCRIPTS).as_posix()
        for path in SCRIPTS.rglob("*.js")
        if length.search(path.read_text(encoding="utf-8"))
    }
    assert repeating <= {name for name, _, _ in COPIES}
