# SPDX-License-Identifier: Apache-2.0
"""Path patterns (spec, "Path pattern rules"; semantics, 11)."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hwci.engine.patterns import LENGTH_MAX, PathList, PatternError, check_patterns


def matches(pattern: str, path: str) -> bool:
    return PathList.parse([pattern]).matches(path)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        # "`*` matches any characters within one directory level."
        ("src/*.c", "src/main.c", True),
        ("src/*.c", "src/.c", True),
        ("src/*.c", "src/hal/main.c", False),
        ("*", "Makefile", True),
        ("*", "src/Makefile", False),
        ("a*b*c", "a-b-b-c", True),
        # "`**` matches any characters across directory levels."
        ("src/**", "src/hal/uart.c", True),
        ("src/**", "src/", True),
        ("src/**", "src", False),
        ("src**.c", "src/hal/uart.c", True),
        ("**", "any/thing", True),
        ("**", "", True),
        # "`**/` at the start of a pattern or after a `/` also matches nothing"
        ("src/**/x.c", "src/x.c", True),
        ("src/**/x.c", "src/a/b/x.c", True),
        ("src/**/x.c", "srcx.c", False),
        ("src/**/x.c", "src/ax.c", False),
        ("**/README.md", "README.md", True),
        ("**/README.md", "docs/README.md", True),
        ("**/README.md", "OLD-README.md", False),
        ("**/**/x", "x", True),
        ("src**/x", "srcx", False),
        ("src**/x", "src/x", True),
        ("***/x", "x", False),
        ("***/x", "a/x", True),
        # "Anchored at both ends, case-sensitive, over the whole path."
        ("main.c", "src/main.c", False),
        ("src", "src/main.c", False),
        ("SRC/*", "src/main.c", False),
        # Nothing else is special.
        ("a.c", "abc", False),
        ("a(b)|c^$", "a(b)|c^$", True),
        ("a!b", "a!b", True),
        ("Prüfstand/*", "Prüfstand/ß", True),
        ("a\nb", "a\nb", True),
    ],
)
def test_a_pattern(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


# "A leading `!` excludes the files matched by the rest of the pattern."
def test_a_path_matches_when_some_plain_pattern_does_and_no_excluding_one() -> None:
    paths = PathList.parse(["src/**", "include/**", "!**/test_*", "!src/**/gen/**"])

    assert paths.matches("src/main.c")
    assert paths.matches("include/main.h")
    assert not paths.matches("src/hal/test_uart.c")
    assert not paths.matches("src/gen/table.c")
    assert not paths.matches("docs/index.md")


def test_a_list_of_excluding_patterns_alone_matches_nothing() -> None:
    assert not PathList.parse(["!docs/**"]).matches("src/main.c")
    assert not PathList.parse([]).matches("src/main.c")


def test_only_the_first_mark_of_a_pattern_is_special() -> None:
    assert not PathList.parse(["**", "!!a"]).matches("!a")
    assert PathList.parse(["**", "!!a"]).matches("a")


def test_the_first_plain_pattern_that_matches_decides() -> None:
    paths = PathList.parse(["docs/**", "src/*.c", "src/**"])

    assert paths.deciding("src/main.c") == "src/*.c"
    assert paths.deciding("src/hal/main.c") == "src/**"
    assert paths.deciding("Makefile") is None


# Rule 4: "A pattern containing any of `?`, `+`, `[`, `]`, `{`, `}`, `\` is invalid."
@pytest.mark.parametrize("sign", "?+[]{}\\")
def test_a_forbidden_sign_is_a_fault(sign: str) -> None:
    ((index, message),) = check_patterns(["src/**", f"a{sign}b"])

    assert index == 1
    assert sign in message
    assert check_patterns([f"!a{sign}b"])[0][0] == 0


# "Every `!` pattern is placed after all non-`!` patterns."
def test_a_plain_pattern_after_an_excluding_one_is_a_fault() -> None:
    faults = check_patterns(["a", "!b", "c", "!d", "e"])

    assert [index for index, _ in faults] == [2, 4]


def test_an_empty_pattern_is_a_fault_also_after_a_mark() -> None:
    assert [index for index, _ in check_patterns(["", "!"])] == [0, 1]


def test_a_pattern_that_is_longer_than_any_path_is_a_fault() -> None:
    longest = "a" * LENGTH_MAX

    assert check_patterns([longest, f"!{longest}"]) == []
    assert check_patterns([f"{longest}a", f"!{longest}a"]) == [
        (index, "A pattern must not be longer than 1,024 characters") for index in (0, 1)
    ]
    assert matches(longest, longest)


def test_every_fault_of_a_list_is_named() -> None:
    faults = check_patterns(["!a", "b?", "", "!c{"])

    assert [index for index, _ in faults] == [1, 1, 2, 3]
    assert check_patterns(["src/**", "!src/gen/**"]) == []


def test_an_illegal_list_is_refused_with_its_first_fault() -> None:
    with pytest.raises(PatternError, match=r"Pattern 2 \('b\?'\)"):
        PathList.parse(["a", "b?", "c+"])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("*" * 9 + "b", False), ("**a" * 100 + "b", False), ("*a" * 100 + "**", True)],
)
def test_a_pattern_of_many_stars_is_matched_in_one_pass(
    pattern: str,
    expected: bool,
) -> None:
    assert matches(pattern, "a" * 4096) is expected
    assert matches("**/" * 300 + "b", "a/" * 2048 + "b")


def long_patterns(first: int, count: int) -> list[str]:
    """Return patterns of the greatest length, all different."""
    return [
        "".join(chr(0x10000 + number * LENGTH_MAX + at) for at in range(LENGTH_MAX))
        for number in range(first, first + count)
    ]


def test_a_long_list_decides_as_a_short_one() -> None:
    filling = long_patterns(0, 5)
    plain = ["docs/**", *filling, "src/*.c", *filling, "src/**"]
    excluding = [*(f"!{one}" for one in filling), "!**/gen/**"]
    paths = PathList.parse([*plain, *excluding])

    assert paths.deciding("docs/a") == "docs/**"
    assert paths.deciding("src/main.c") == "src/*.c"
    assert paths.deciding("src/hal/main.c") == "src/**"
    assert paths.deciding("src/gen/main.c") is None
    assert paths.deciding(filling[4]) is None, "it is excluded too"
    assert PathList.parse(plain).deciding(filling[4]) == filling[4]


def test_what_a_list_takes_grows_with_its_length_and_not_with_its_square() -> None:
    patterns = long_patterns(0, 40)
    tracemalloc.start()
    try:
        paths = PathList.parse(patterns)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert paths.matches(patterns[-1])
    assert peak <= 40 * 1024 * 1024


def slowly(pattern: str, path: str, *, level_start: bool = True) -> bool:
    """Match as the rules read, trying every possibility."""
    if not pattern:
        return not path
    if pattern.startswith("**/") and level_start and slowly(pattern[3:], path):
        return True
    if pattern.startswith("**"):
        return any(
            slowly(pattern[2:], path[skipped:], level_start=False)
            for skipped in range(len(path) + 1)
        )
    if pattern.startswith("*"):
        within = path.split("/", maxsplit=1)[0]
        return any(
            slowly(pattern[1:], path[skipped:], level_start=False)
            for skipped in range(len(within) + 1)
        )
    return path[:1] == pattern[0] and slowly(pattern[1:], path[1:], level_start=pattern[0] == "/")


PATTERNS = st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/"]), min_size=1, max_size=7)
PATHS = st.text("ab/", max_size=8)


@settings(deadline=None)
@given(PATTERNS.map("".join), PATHS)
def test_a_pattern_matches_as_the_rules_read(pattern: str, path: str) -> None:
    assert matches(pattern, path) is slowly(pattern, path)


@settings(deadline=None)
@given(
    st.lists(PATTERNS.map("".join), max_size=4), st.lists(PATTERNS.map("".join), max_size=3), PATHS
)
def test_a_list_matches_as_its_patterns_do(
    plain: list[str], excluding: list[str], path: str
) -> None:
    paths = PathList.parse([*plain, *("!" + one for one in excluding)])
    first = next((one for one in plain if slowly(one, path)), None)
    excluded = any(slowly(one, path) for one in excluding)

    assert paths.deciding(path) == (None if excluded else first)
