# SPDX-License-Identifier: Apache-2.0
"""Each field rule of the three CI bodies: at its limit taken, beyond it refused, by path."""

import json
from dataclasses import fields
from typing import Any

import pytest
from pydantic import ValidationError

from hwci.engine import facts
from hwci.wire import reports as wire
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration
from tests.wire.bodies import (
    ANNOUNCEMENT,
    COMMIT,
    CONFIGURATION,
    LEFT_OUT,
    REPORT,
    SHA,
    TEST,
    Step,
    case,
    changed,
    issues,
    paths,
)

BODIES: dict[str, tuple[Any, dict[str, Any]]] = {
    "merge announcement": (MergeAnnouncement, ANNOUNCEMENT),
    "run report": (RunReport, REPORT),
    "suite configuration": (SuiteConfiguration, CONFIGURATION),
}
NAMES = [
    ("merge announcement", ("repo_key",)),
    ("merge announcement", ("suite",)),
    ("merge announcement", ("branch",)),
    ("run report", ("repo_key",)),
    ("run report", ("workflow",)),
    ("run report", ("suite",)),
    ("run report", ("branch",)),
    ("run report", ("box_key",)),
    ("run report", ("tests", 0, "board")),
    ("suite configuration", ("repo_key",)),
    ("suite configuration", ("suite",)),
]
SHAS = [
    ("merge announcement", ("sha",)),
    ("run report", ("sha",)),
    ("run report", ("covers_shas", 0)),
    ("run report", ("changes", "base_sha")),
    ("run report", ("changes", "commits", 0, "sha")),
]
TIMES = [
    ("merge announcement", ("merged_at",)),
    ("run report", ("started_at",)),
    ("run report", ("ended_at",)),
    ("run report", ("changes", "commits", 0, "committed_at")),
]
COUNTS = [
    ("run report", ("run_id",), 0),
    ("run report", ("run_attempt",), 1),
    ("run report", ("part_of", "run_id"), 0),
    ("run report", ("part_of", "parts"), 1),
    ("run report", ("ci_run",), 0),
    ("run report", ("rerun_of",), 0),
]
BOOLEANS = [
    ("run report", ("hello_ok",)),
    ("run report", ("changes", "truncated")),
    ("run report", ("changes", "commits", 0, "files_truncated")),
    ("suite configuration", ("merge_trigger",)),
]
TEXTS = [
    ("run report", ("conclusion",), 1, 50),
    ("run report", ("tests", 0, "id"), 1, 512),
    ("run report", ("tests", 0, "message"), 0, 2_000),
    ("run report", ("changes", "commits", 0, "subject"), 0, 1_000),
]
REQUIRED = [
    *(("merge announcement", (name,)) for name in ("repo_key", "sha", "branch", "merged_at")),
    *(
        ("run report", (name,))
        for name in (
            *("repo_key", "workflow", "run_id", "run_attempt", "trigger", "branch", "sha"),
            *("started_at", "ended_at", "conclusion", "hello_ok", "box_key", "tests"),
        )
    ),
    *(("run report", ("tests", 0, name)) for name in ("id", "outcome", "attempts", "duration_s")),
    *(("run report", ("changes", name)) for name in ("base_sha", "commits")),
    *(("run report", ("changes", "commits", 0, name)) for name in ("sha", "subject", "files")),
    *(("run report", ("part_of", name)) for name in ("run_id", "part", "parts")),
    *(
        ("suite configuration", (name,))
        for name in ("repo_key", "suite", "firmware_paths", "harness_paths", "merge_trigger")
    ),
]
OPTIONAL = [
    ("merge announcement", ("suite",)),
    ("merge announcement", ("ci_url",)),
    ("run report", ("suite",)),
    ("run report", ("ci_run",)),
    ("run report", ("ci_url",)),
    ("run report", ("rerun_of",)),
    ("run report", ("covers_shas",)),
    ("run report", ("changes",)),
    ("run report", ("part_of",)),
    ("run report", ("tests", 0, "verdict")),
    ("run report", ("tests", 0, "message")),
    ("run report", ("tests", 0, "board")),
    ("run report", ("tests", 0, "log_url")),
    ("run report", ("changes", "truncated")),
    ("run report", ("changes", "commits", 0, "committed_at")),
    ("run report", ("changes", "commits", 0, "files_truncated")),
    ("suite configuration", ("trigger_paths",)),
    ("suite configuration", ("links",)),
    ("suite configuration", ("targets",)),
    ("suite configuration", ("targets", "merges_checked")),
    ("suite configuration", ("targets", "infra_runs")),
]


def verdict_on(kind: str, path: tuple[Step, ...], value: object) -> list[list[Step]]:
    """Return the paths at fault after one element was replaced."""
    model, body = BODIES[kind]
    return paths(model, changed(body, path, value))


@pytest.mark.parametrize("kind", BODIES)
def test_the_smallest_legal_bodies_are_taken(kind: str) -> None:
    model, body = BODIES[kind]

    assert paths(model, body) == []


@pytest.mark.parametrize(("kind", "path"), NAMES)
def test_names_are_strings_of_1_to_255_characters(kind: str, path: tuple[Step, ...]) -> None:
    assert verdict_on(kind, path, "x") == []
    assert verdict_on(kind, path, "x" * 255) == []
    assert verdict_on(kind, path, "x" * 256) == [["body", *path]]
    assert verdict_on(kind, path, "") == [["body", *path]]
    assert verdict_on(kind, path, 7) == [["body", *path]]


@pytest.mark.parametrize(
    ("run_id", "rerun_of", "refused"), [(7, 7, True), (4711, 4711, True), (7, 8, False)]
)
def test_a_run_is_no_rerun_of_itself(run_id: int, rerun_of: int, refused: bool) -> None:
    """`run_id` of a later part is derived, and its `part_of` has the CI's."""
    model, body = BODIES["run report"]
    found = issues(model, body | {"run_id": run_id, "rerun_of": rerun_of})

    fault = (["body", "rerun_of"], "Should be another run than `run_id`")
    assert found == [fault] * refused


@pytest.mark.parametrize("kind", ["merge announcement", "run report"])
def test_the_page_of_a_job_is_an_address_of_the_web(kind: str) -> None:
    host = "https://ci.example/"

    for address in ("http://ci", "HTTPS://ci.example:8443?job=7#log", host.ljust(2_000, "x")):
        assert verdict_on(kind, ("ci_url",), address) == []
    wrong = ("", "ci.example/7", "javascript:alert(1)", "https://", "file:///etc/passwd", 7)
    hidden = (f"{host}a b", f"{host}\x1b[2J", f"{host}\0", f"{host}é", "https://u:p@ci.example/")
    for none in (*wrong, *hidden, host.ljust(2_001, "x")):
        assert verdict_on(kind, ("ci_url",), none) == [["body", "ci_url"]]


@pytest.mark.parametrize("name", ["merges_checked", "infra_runs"])
def test_a_target_is_a_share_in_percent(name: str) -> None:
    at: tuple[Step, ...] = ("targets", name)

    for share in (0, 0.1, 99.9, 100):
        assert verdict_on("suite configuration", at, share) == []
    for none in (-0.1, 100.1, 1e300, "95", True, [95]):
        assert verdict_on("suite configuration", at, none) == [["body", *at]]
    found = issues(SuiteConfiguration, changed(CONFIGURATION, at, 950))
    assert found == [(["body", *at], "Should be a share in percent, from 0 to 100")]


def test_targets_without_a_value_are_none() -> None:
    for nothing in ({}, {"merges_checked": None}, None):
        body = changed(CONFIGURATION, ("targets",), nothing)
        assert SuiteConfiguration.model_validate(body).fact().targets is None


def test_lengths_count_code_points_and_nothing_is_normalized() -> None:
    flags, combined = "\U0001f6a9" * 255, "e\u0301"

    assert verdict_on("run report", ("box_key",), flags) == []
    assert verdict_on("run report", ("box_key",), flags + "x") == [["body", "box_key"]]
    assert (
        RunReport.model_validate_json(
            RunReport.model_validate(
                changed(REPORT, ("box_key",), combined), strict=False
            ).model_dump_json()
        ).box_key
        == combined
    )


def test_a_length_fault_speaks_of_characters() -> None:
    found = issues(RunReport, changed(REPORT, ("box_key",), "x" * 256))

    assert found == [(["body", "box_key"], "String should have at most 255 characters")]


@pytest.mark.parametrize(("kind", "path", "least", "most"), TEXTS)
def test_texts_keep_their_lengths(kind: str, path: tuple[Step, ...], least: int, most: int) -> None:
    assert verdict_on(kind, path, "x" * least) == []
    assert verdict_on(kind, path, "x" * most) == []
    assert verdict_on(kind, path, "x" * (most + 1)) == [["body", *path]]
    assert verdict_on(kind, path, "") == ([["body", *path]] if least else [])


@pytest.mark.parametrize(("kind", "path"), [*NAMES, *((kind, path) for kind, path, *_ in TEXTS)])
def test_strings_hold_no_nul_and_no_lone_surrogate(kind: str, path: tuple[Step, ...]) -> None:
    model, body = BODIES[kind]

    assert verdict_on(kind, path, "a\0b") == [["body", *path]]
    # A lone surrogate is not Unicode text: what holds it cannot be read as JSON at all.
    assert paths(model, changed(body, path, "a\ud800b")) == [["body"]]
    assert paths(model, changed(body, path, "a\udc00")) == [["body"]]


@pytest.mark.parametrize(
    "path",
    [("firmware_paths", 0), ("harness_paths", 0), ("trigger_paths", 0)],
)
def test_patterns_hold_no_nul(path: tuple[Step, ...]) -> None:
    assert ["body", *path] in verdict_on("suite configuration", path, "src/\0")


def test_file_paths_hold_no_nul_and_are_not_empty() -> None:
    at: tuple[Step, ...] = ("changes", "commits", 0, "files", 0)

    assert verdict_on("run report", at, "a\0") == [["body", *at]]
    assert verdict_on("run report", at, "") == [["body", *at]]
    assert verdict_on("run report", at, "a" * 100_000) == []


@pytest.mark.parametrize(("kind", "path"), SHAS)
def test_a_sha_is_7_to_64_hexadecimal_characters(kind: str, path: tuple[Step, ...]) -> None:
    assert verdict_on(kind, path, "a" * 7) == []
    assert verdict_on(kind, path, "0123456789abcdefABCDEF") == []
    assert verdict_on(kind, path, "f" * 64) == []
    for wrong in ("a" * 6, "a" * 65, "g" * 40, "a" * 39 + "\n", " " + SHA, "٣" * 40, 1234567, ""):
        assert verdict_on(kind, path, wrong) == [["body", *path]]


def test_a_sha_is_compared_in_lower_case() -> None:
    body = changed(REPORT, ("sha",), SHA.upper())
    body["covers_shas"] = [SHA.upper()]
    body["changes"] = {"base_sha": "ABCDEF0", "commits": [{**COMMIT, "sha": SHA.upper()}]}

    report = RunReport.model_validate(body, strict=False)

    assert report.changes is not None
    assert report.sha == SHA
    assert report.covers_shas == [SHA]
    assert report.changes.base_sha == "abcdef0"
    assert report.changes.commits[0].sha == SHA


@pytest.mark.parametrize(("kind", "path"), TIMES)
def test_times_need_an_offset(kind: str, path: tuple[Step, ...]) -> None:
    assert verdict_on(kind, path, "2026-03-02T10:30:00+01:00") == []
    assert verdict_on(kind, path, "2026-03-02T10:30:00") == [["body", *path]]
    assert verdict_on(kind, path, 1_772_443_800) == [["body", *path]]


@pytest.mark.parametrize(("kind", "path", "least"), COUNTS)
def test_integers_are_integers_of_64_bits(kind: str, path: tuple[Step, ...], least: int) -> None:
    assert verdict_on(kind, path, least) == []
    assert verdict_on(kind, path, 2**63 - 1) == []
    for wrong in (least - 1, 2**63, 2**64, "1", True, 1.0, 1.5, [1]):
        assert verdict_on(kind, path, wrong) == [["body", *path]]


def test_attempts_are_at_most_so_many_that_their_sums_fit_any_reader() -> None:
    at: tuple[Step, ...] = ("tests", 0, "attempts")

    for right in (1, 2, 1_000_000):
        assert verdict_on("run report", at, right) == []
    for wrong in (0, 1_000_001, 2**63 - 1, 2**64, "1", True, 1.0, [1]):
        assert verdict_on("run report", at, wrong) == [["body", *at]]


def test_the_part_of_a_report_is_within_its_parts() -> None:
    at: tuple[Step, ...] = ("part_of", "part")

    assert verdict_on("run report", at, 1) == []
    assert verdict_on("run report", at, 2) == []
    assert verdict_on("run report", at, 3) == [["body", *at]]
    assert verdict_on("run report", at, 0) == [["body", *at]]
    assert verdict_on("run report", at, True) == [["body", *at]]


def test_a_duration_is_a_number_from_zero_to_a_year() -> None:
    at: tuple[Step, ...] = ("tests", 0, "duration_s")

    for right in (0, 0.0, 5e-324, 0.001, 86_400, 366 * 86_400):
        assert verdict_on("run report", at, right) == []
    for wrong in (-0.001, -1, 366 * 86_400.001, 1e308, "1", True, [1], 10**400):
        assert verdict_on("run report", at, wrong) == [["body", *at]]


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999"])
def test_what_is_no_finite_number_is_refused(number: bytes) -> None:
    raw = RunReport.model_validate(REPORT, strict=False).model_dump_json().encode()
    assert b'"duration_s":2.0' in raw

    wrong = raw.replace(b'"duration_s":2.0', b'"duration_s":' + number)

    assert paths(RunReport, raw) == []
    assert paths(RunReport, wrong) == [["body", "tests", 0, "duration_s"]]


@pytest.mark.parametrize(("kind", "path"), BOOLEANS)
def test_booleans_are_booleans(kind: str, path: tuple[Step, ...]) -> None:
    for right in (True, False):
        assert verdict_on(kind, path, right) == []
    for wrong in (0, 1, "true", "yes", [1]):
        assert verdict_on(kind, path, wrong) == [["body", *path]]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        case("enum: merge, nightly, manual", ("trigger",), ("merge", "nightly", "manual")),
        case("enum: pass, fail", ("tests", 0, "outcome"), ("pass", "fail")),
        case(
            "enum: device, infra, unknown", ("tests", 0, "verdict"), ("device", "infra", "unknown")
        ),
    ],
)
def test_an_enum_takes_its_words_and_no_other(
    path: tuple[Step, ...], words: tuple[str, ...]
) -> None:
    for word in words:
        assert verdict_on("run report", path, word) == []
        assert verdict_on("run report", path, word.upper()) == [["body", *path]]
    for wrong in ("", "skip", 0, True):
        assert verdict_on("run report", path, wrong) == [["body", *path]]


@pytest.mark.parametrize(("kind", "path"), REQUIRED)
def test_a_required_field_is_required(kind: str, path: tuple[Step, ...]) -> None:
    assert verdict_on(kind, path, LEFT_OUT) == [["body", *path]]


@pytest.mark.parametrize(
    ("kind", "path"), [row for row in REQUIRED if row[1] != ("changes", "base_sha")]
)
def test_null_is_no_value_of_a_required_field(kind: str, path: tuple[Step, ...]) -> None:
    assert verdict_on(kind, path, None) == [["body", *path]]


def test_base_sha_is_null_when_there_is_no_previous_run() -> None:
    assert verdict_on("run report", ("changes", "base_sha"), None) == []


@pytest.mark.parametrize(("kind", "path"), OPTIONAL)
def test_null_for_an_optional_field_is_the_field_left_out(
    kind: str, path: tuple[Step, ...]
) -> None:
    model, body = BODIES[kind]
    with_null = model.model_validate(changed(body, path, None), strict=False)
    left_out = model.model_validate(
        changed(changed(body, path, None), path, LEFT_OUT), strict=False
    )

    assert verdict_on(kind, path, None) == []
    assert with_null == left_out


@pytest.mark.parametrize("kind", BODIES)
def test_unknown_fields_of_a_ci_body_are_ignored(kind: str) -> None:
    model, body = BODIES[kind]

    assert model.model_validate(body | {"future": {"a": [1]}}, strict=False) == (
        model.model_validate(body, strict=False)
    )


def test_the_fields_of_a_test_stand_in_the_order_of_its_fact() -> None:
    assert [*wire.TestItem.model_fields] == [field.name for field in fields(facts.TestItem)]


def test_unknown_fields_inside_a_run_report_are_ignored() -> None:
    for path in (("tests", 0), ("changes",), ("changes", "commits", 0), ("part_of",)):
        assert verdict_on("run report", (*path, "future"), [1]) == []


@pytest.mark.parametrize(
    ("path", "most", "element"),
    [
        case("tests: at most 1,000 items", ("tests",), 1_000, TEST),
        case("covers_shas: at most 1,000 items", ("covers_shas",), 1_000, SHA),
        case("changes.commits: at most 250 items", ("changes", "commits"), 250, COMMIT),
        case(
            "files per commit: at most 2,000 paths",
            ("changes", "commits", 0, "files"),
            2_000,
            "src/a.c",
        ),
    ],
)
def test_lists_of_a_run_report_keep_their_limit(
    path: tuple[Step, ...], most: int, element: Any
) -> None:
    def items(count: int) -> list[Any]:
        if path == ("tests",):
            return [{**TEST, "id": f"t{index}"} for index in range(count)]
        return [element] * count

    assert verdict_on("run report", path, []) == []
    assert verdict_on("run report", path, items(most)) == []
    assert verdict_on("run report", path, items(most + 1)) == [["body", *path]]
    assert verdict_on("run report", path, "abc") == [["body", *path]]
    assert verdict_on("run report", path, {}) == [["body", *path]]


@pytest.mark.parametrize("name", ["firmware_paths", "harness_paths", "trigger_paths"])
def test_path_patterns_are_at_most_200_per_list(name: str) -> None:
    assert verdict_on("suite configuration", (name,), []) == []
    assert verdict_on("suite configuration", (name,), ["src/**"] * 200) == []
    assert verdict_on("suite configuration", (name,), ["src/**"] * 201) == [["body", name]]


@pytest.mark.parametrize("character", list("?+[]{}\\"))
def test_a_pattern_containing_a_forbidden_character_is_invalid(character: str) -> None:
    patterns = ["src/**", "docs/*", f"src/a{character}b"]

    assert verdict_on("suite configuration", ("firmware_paths",), patterns) == [
        ["body", "firmware_paths", 2]
    ]


@pytest.mark.parametrize(
    ("patterns", "at"),
    [
        case("an empty pattern breaks the rules", ["src/**", ""], 1),
        case("an empty pattern after ! too", ["src/**", "!"], 1),
        case("every ! pattern is placed after all non-! patterns", ["!src/x/**", "src/**"], 1),
        case("an element is a string", ["src/**", 3], 1),
    ],
)
def test_path_pattern_rules_name_the_element(patterns: list[Any], at: int) -> None:
    for name in ("firmware_paths", "harness_paths", "trigger_paths"):
        assert verdict_on("suite configuration", (name,), patterns) == [["body", name, at]]


@pytest.mark.parametrize("patterns", [["!src/**"], ["src/*", "!src/!x"], ["**"], ["a b/ü"]])
def test_legal_patterns_are_taken(patterns: list[str]) -> None:
    assert verdict_on("suite configuration", ("firmware_paths",), patterns) == []


def test_pattern_faults_stand_beside_the_faults_of_other_elements() -> None:
    found = verdict_on("suite configuration", ("firmware_paths",), ["a?", 3, "", "b+"])

    assert sorted(found) == [["body", "firmware_paths", index] for index in range(4)]


def test_a_test_id_twice_is_named_at_each_repetition() -> None:
    tests = [TEST, {**TEST, "id": "other"}, TEST, TEST]

    assert verdict_on("run report", ("tests",), tests) == [
        ["body", "tests", 2, "id"],
        ["body", "tests", 3, "id"],
    ]


def test_a_test_id_twice_is_named_beside_a_faulty_element() -> None:
    tests = [TEST, TEST, {**TEST, "id": "b"}, {**TEST, "id": "c", "outcome": "skip"}]

    assert sorted(verdict_on("run report", ("tests",), tests), key=str) == [
        ["body", "tests", 1, "id"],
        ["body", "tests", 3, "outcome"],
    ]


def test_test_ids_are_compared_exactly() -> None:
    tests = [{**TEST, "id": name} for name in ("a", "A", "a ", "\u00e9", "e\u0301")]

    assert verdict_on("run report", ("tests",), tests) == []


def test_a_list_that_is_too_long_does_not_hide_the_faults_of_its_elements() -> None:
    tests = [{**TEST, "id": f"t{index}"} for index in range(1_001)]
    tests[3] = {**TEST, "id": "t2", "attempts": 0}

    assert verdict_on("run report", ("tests",), tests) == [
        ["body", "tests"],
        ["body", "tests", 3, "id"],
        ["body", "tests", 3, "attempts"],
    ]


def test_every_fault_of_a_body_is_listed() -> None:
    body = REPORT | {"run_id": "1", "sha": "xyz", "hello_ok": 1, "started_at": "today"}
    body["tests"] = [{**TEST, "attempts": 0, "outcome": "skip"}, 5]

    assert sorted(paths(RunReport, body), key=str) == [
        ["body", "hello_ok"],
        ["body", "run_id"],
        ["body", "sha"],
        ["body", "started_at"],
        ["body", "tests", 0, "attempts"],
        ["body", "tests", 0, "outcome"],
        ["body", "tests", 1],
    ]


def test_at_most_100_faults_are_listed() -> None:
    files = [""] * 2_000
    body = changed(REPORT, ("changes", "commits"), [{**COMMIT, "files": files}] * 3)

    found = paths(RunReport, body)

    assert len(found) == 100
    assert found[0] == ["body", "changes", "commits", 0, "files", 0]


def test_at_most_100_faults_are_listed_of_all_lists_together() -> None:
    body = REPORT | {"tests": [{}] * 60, "covers_shas": ["x"] * 60}

    assert len(paths(RunReport, body)) == 100


def test_a_list_carries_no_more_faults_than_an_answer_lists() -> None:
    commits = [{**COMMIT, "files": [""] * 2_000}] * 250

    with pytest.raises(ValidationError) as refused:
        RunReport.model_validate_json(json.dumps(changed(REPORT, ("changes", "commits"), commits)))

    assert refused.value.error_count() == 100


def test_the_faults_of_a_body_share_it_and_hold_no_copies() -> None:
    with pytest.raises(ValidationError) as refused:
        RunReport.model_validate_json('{"future": [1, 2, 3]}')

    held = [id(error["input"]) for error in refused.value.errors()]
    assert len(held) == 13
    assert len(set(held)) == 1


def test_a_list_is_not_read_beyond_its_limit() -> None:
    tests = [{**TEST, "id": f"t{index}"} for index in range(1_000)]

    assert verdict_on("run report", ("tests",), [*tests, {}, 5]) == [["body", "tests"]]


def test_an_element_that_is_not_an_object_is_an_error() -> None:
    assert issues(RunReport, REPORT | {"tests": [5]}) == [
        (["body", "tests", 0], "Input should be an object")
    ]


def test_values_at_fault_are_never_repeated() -> None:
    secret = "svc_c0ffee"
    body: Any = changed(REPORT, ("tests", 0, "outcome"), secret)
    body |= {"sha": secret, "started_at": secret, "trigger": secret, "run_id": secret}
    body |= {
        "box_key": secret * 100,
        "hello_ok": secret,
        "covers_shas": [secret],
        "changes": secret,
    }
    configuration = CONFIGURATION | {"firmware_paths": [secret + "?", "!" + secret, secret]}

    said = [*issues(RunReport, body), *issues(SuiteConfiguration, configuration)]

    assert len(said) >= 11
    assert [message for _, message in said if secret in message] == []


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"\xff", b'{"repo_key": "\xff"}', b"\xef\xbb\xbf{}", b"{} {}", b"[" * 100_000],
)
def test_a_body_that_is_not_json_is_one_fault(raw: bytes) -> None:
    for model, _ in BODIES.values():
        assert paths(model, raw) == [["body"]]


@pytest.mark.parametrize("body", [None, [], 3, "text", [REPORT]])
def test_a_body_is_an_object(body: object) -> None:
    for model, _ in BODIES.values():
        assert issues(model, body) == [(["body"], "Input should be an object")]
