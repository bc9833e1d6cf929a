# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""The body of a suite configuration, field by field, and the path pattern rules (spec, "Suite
configuration")."""

import pytest

from tests.spec.fields import FLAGS_BAD, NAMES_BAD, NAMES_OK, Field, Path, Values, check
from tests.spec.quoting import shows
from tests.spec.service import (
    CONFIGURE,
    Json,
    Service,
    changes,
    commit,
    configuration,
    failed,
    passed,
    sha,
)

REPO_KEY = "| `repo_key` | string, 1 to 255 chars | yes | Same value as in reports |"
SUITE = "| `suite` | string, 1 to 255 chars | yes | Product; same value as in reports |"
FIRMWARE = "| `firmware_paths` | array of at most 200 path patterns | yes | Files that make up the product firmware |"
HARNESS = "| `harness_paths` | array of at most 200 path patterns | yes | Files of the test harness and CI configuration of the product |"
TRIGGERS = "| `trigger_paths` | array of at most 200 path patterns | no | Files whose change in a merge starts the product suite |"
MERGE_TRIGGER = (
    "| `merge_trigger` | boolean | yes | `false` if the product suite never runs on a merge |"
)

STAR = "1. `*` matches any characters within one directory level."
STARS = "2. `**` matches any characters across directory levels."
EXCLUDING = "3. A leading `!` excludes the files matched by the rest of the pattern. Every `!` pattern is placed after all non-`!` patterns."
INVALID = r"4. A pattern containing any of `?`, `+`, `[`, `]`, `{`, `}`, `\` is invalid."

PATTERNS = [f"src/{number}/**" for number in range(201)]
LISTS_OK: Values = ([], ["**"], PATTERNS[:200], ["src/*.c", "!src/main.c"])
LISTS_BAD: Values = (PATTERNS, {}, "src/**", [1], ["src/**", "a?b"], ["!a", "b"])
INSIDE = ((), (), (), (0,), (1,), (1,))

FIELDS = {
    REPO_KEY: Field("repo_key", NAMES_OK, NAMES_BAD),
    SUITE: Field("suite", NAMES_OK, NAMES_BAD),
    FIRMWARE: Field("firmware_paths", LISTS_OK, LISTS_BAD, inside=INSIDE),
    HARNESS: Field("harness_paths", LISTS_OK, LISTS_BAD, inside=INSIDE),
    TRIGGERS: Field("trigger_paths", (*LISTS_OK, None), LISTS_BAD, required=False, inside=INSIDE),
    MERGE_TRIGGER: Field("merge_trigger", (True, False), FLAGS_BAD),
}


def in_configuration() -> tuple[Json, Path]:
    return configuration(), ()


@shows(*FIELDS)
@pytest.mark.parametrize("row", FIELDS)
def test_a_field_takes_what_its_row_says_and_nothing_else(service: Service, row: str) -> None:
    check(service, CONFIGURE, in_configuration, FIELDS[row])


@shows(REPO_KEY, SUITE)
def test_a_configuration_is_of_one_product(service: Service) -> None:
    for repo_key, suite in (("a", "x"), ("a", "y"), ("b", "x")):
        service.report("a", 1, repo_key=repo_key, suite=suite)
    service.configure(repo_key="a", suite="x")

    configured = [
        (product["repoKey"], product["suite"])
        for product in service.get("products")["items"]
        if product["configured"]
    ]
    assert configured == [("a", "x")]


def kinds(service: Service, paths: list[str], **lists: list[str]) -> dict[str, str]:
    """Return what each path is to a product whose configuration has these lists."""
    service.configure(**{"firmware_paths": [], "harness_paths": [], **lists})
    service.report("a", 1, failed(), changes=changes("base", commit("a", *paths)))
    found = service.get(f"ci-failures/{service.failure_id('boot', 'a')}")
    if found["underTest"] is None:
        service.report("b", 2, passed())
        found = service.get(f"ci-failures/{service.failure_id('boot', 'a')}")
    (under_test,) = found["underTest"]
    return {file["path"]: file["kind"] for file in under_test["files"]}


def matched(service: Service, patterns: list[str], paths: list[str]) -> list[str]:
    """Return the paths that are firmware by these patterns."""
    found = kinds(service, paths, firmware_paths=patterns)
    return [path for path in paths if found[path] == "firmware"]


@shows(FIRMWARE, HARNESS)
def test_the_lists_say_which_files_are_firmware_and_which_harness(service: Service) -> None:
    paths = ["src/a.c", "ci/run.py", "shared/b.py", "docs/a.md"]
    lists = {"firmware_paths": ["src/**", "shared/**"], "harness_paths": ["ci/**", "shared/**"]}

    assert kinds(service, paths, **lists) == {
        "src/a.c": "firmware",
        "ci/run.py": "harness",
        "shared/b.py": "both",
        "docs/a.md": "other",
    }


@shows(TRIGGERS, MERGE_TRIGGER)
def test_what_starts_a_suite_is_kept_for_who_announces(service: Service) -> None:
    service.configure(suite="a", trigger_paths=["src/**", "!src/docs/**"])
    service.configure(suite="b", merge_trigger=False)

    kept = {one["suite"]: one for one in service.get("suite-configs")["items"]}
    assert kept["a"]["triggerPaths"] == ["src/**", "!src/docs/**"]
    assert kept["b"]["triggerPaths"] is None
    products = service.get("products")["items"]
    assert {one["suite"]: one["mergeTrigger"] for one in products} == {"a": True, "b": False}


@shows(STAR)
def test_a_star_stays_within_one_directory_level(service: Service) -> None:
    paths = ["src/a.c", "src/.c", "src/a.h", "src/x/a.c", "a.c", "lib/src/a.c", "src/a.cc"]

    assert matched(service, ["src/*.c"], paths) == ["src/a.c", "src/.c"]


@shows(STAR)
def test_a_star_stands_for_a_whole_level_too(service: Service) -> None:
    paths = ["a/src/b.c", "a/b/src/b.c", "src/b.c"]

    assert matched(service, ["*/src/*"], paths) == ["a/src/b.c"]


@shows(STARS)
def test_two_stars_cross_directory_levels(service: Service) -> None:
    paths = ["src/a.c", "src/x/y/a.c", "lib/src/a.c", "src", "SRC/a.c"]

    assert matched(service, ["src/**"], paths) == ["src/a.c", "src/x/y/a.c"]
    assert matched(service, ["**.c"], paths) == ["src/a.c", "src/x/y/a.c", "lib/src/a.c", "SRC/a.c"]


@shows(EXCLUDING)
def test_a_leading_bang_excludes(service: Service) -> None:
    paths = ["src/a.c", "src/test/a.c", "src/test/deep/b.c", "!src/a.c"]

    assert matched(service, ["src/**", "!src/test/**"], paths) == ["src/a.c"]
    assert matched(service, ["!src/test/**"], paths) == []
    assert matched(service, ["**", "!src/**"], paths) == ["!src/a.c"]


@shows(EXCLUDING)
@pytest.mark.parametrize("name", ["firmware_paths", "harness_paths", "trigger_paths"])
def test_a_plain_pattern_after_an_excluding_one_is_400(service: Service, name: str) -> None:
    good = configuration(**{name: ["a/**", "b/**", "!a/x", "!b/x"]})
    bad = configuration(**{name: ["a/**", "!a/x", "b/**", "!b/x", "c"]})

    assert service.send(CONFIGURE, good).status == 204
    assert service.send(CONFIGURE, bad).issue_paths == [["body", name, 2], ["body", name, 4]]


@shows(INVALID)
@pytest.mark.parametrize("sign", list("?+[]{}\\"))
def test_a_pattern_with_a_forbidden_sign_is_400(service: Service, sign: str) -> None:
    for name in ("firmware_paths", "harness_paths", "trigger_paths"):
        for pattern in (sign, f"src/a{sign}b/**", f"!{sign}"):
            reply = service.send(CONFIGURE, configuration(**{name: ["src/**", pattern]}))
            # A forbidden sign is the one fault, wherever the pattern stands.
            assert reply.issue_paths == [["body", name, 1]]
    assert service.get("suite-configs")["items"] == []


@shows(INVALID)
def test_any_other_sign_stands_for_itself(service: Service) -> None:
    paths = ["src/(a)|$^.c", "src/a!b #~.c", "src/ü c.c", "src/xaxx.c"]

    assert matched(service, ["src/(a)|$^.c"], paths) == paths[:1]
    assert matched(service, ["src/a!b*"], paths) == paths[1:2]
    assert matched(service, ["src/ü c.c"], paths) == paths[2:3]


def test_a_configuration_holds_for_earlier_failures_too(service: Service) -> None:
    service.report("a", 1, failed(), changes=changes("base", commit("a", "fw/a.c")))
    service.report("b", 2, passed(), changes=changes("a", commit("b", "fw/a.c")))
    service.configure()
    assert service.tiles()["realFwBugs"]["benchOrHarness"] == 1

    service.configure(firmware_paths=["fw/**"])
    assert [row["firstFailure"]["sha"] for row in service.page()["realBugs"]["items"]] == [sha("a")]
