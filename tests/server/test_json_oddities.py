# SPDX-License-Identifier: Apache-2.0
"""JSON that parsers disagree about, and values that look right: each has one verdict, at its place
(contract, "Everywhere"; semantics, 1.7 and 10).
"""

import json

import pytest

from hwci.server.http.bodies.body import LARGE_BYTES
from hwci.wire.json_values import VALUES_MAX
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, report

PATH = "/api/ci/run-report"
JSON = ("Content-Type", "application/json")
Path = list[str | int]
BODY: Path = ["body"]
DEEP = 100_000
COMMIT = {"sha": "b" * 40, "subject": "s", "files": ["src/a.c"]}
PLAIN = report(changes={"base_sha": "a" * 40, "commits": [COMMIT]}, covers_shas=["c" * 40])
TEXT = json.dumps(PLAIN)


def raw(field: str, value: str) -> bytes:
    """Write a report with a field whose JSON is exactly this; more fields, if it says more."""
    return (json.dumps({**PLAIN, field: "?"}).replace('"?"', value, 1)).encode(
        errors="surrogatepass"
    )


def within(holder: str, field: str, value: str) -> bytes:
    """Write a report with a test, or a commit, one of whose fields is exactly this."""
    if holder == "test":
        return raw("tests", json.dumps([{**PLAIN["tests"][0], field: "?"}])).replace(
            b'"?"', value.encode(errors="surrogatepass"), 1
        )
    changes = {"base_sha": None, "commits": [{**COMMIT, field: "?"}]}
    return raw("changes", json.dumps(changes)).replace(b'"?"', value.encode(), 1)


TEST: Path = ["body", "tests", 0]
COMMITS: Path = ["body", "changes", "commits", 0]

REFUSED: dict[str, tuple[bytes, Path]] = {
    # no JSON, or not all of it
    "nothing": (b"", BODY),
    "white space": (b" \n\t", BODY),
    "half": (TEXT[:-1].encode(), BODY),
    "bytes after it": ((TEXT + "x").encode(), BODY),
    "two of them": ((TEXT + TEXT).encode(), BODY),
    "a NUL after it": ((TEXT + "\0").encode(), BODY),
    "a comma too many": ((TEXT[:-1] + ",}").encode(), BODY),
    "a comma too many in a list": (raw("covers_shas", '["ccccccc",]'), BODY),
    "single quotes": (TEXT.replace('"', "'").encode(), BODY),
    "names without quotes": (TEXT.replace('"sha"', "sha", 1).encode(), BODY),
    "a comment": (("/* report */" + TEXT).encode(), BODY),
    "True": (raw("hello_ok", "True"), BODY),
    "a line break in a string": (raw("branch", '"a\nb"'), BODY),
    "a tab in a string": (raw("branch", '"a\tb"'), BODY),
    "an unknown escape": (raw("branch", r'"\x41"'), BODY),
    "half an escape": (raw("branch", r'"\u12"'), BODY),
    # no object
    "a list": (b"[" + TEXT.encode() + b"]", BODY),
    "a string": (b'"report"', BODY),
    "a number": (b"1", BODY),
    "null": (b"null", BODY),
    "true": (b"true", BODY),
    # not in UTF-8
    "a byte order mark": (b"\xef\xbb\xbf" + TEXT.encode(), BODY),
    "UTF-16": (TEXT.encode("utf-16"), BODY),
    "UTF-16, big end first": (TEXT.encode("utf-16-be"), BODY),
    "UTF-32": (TEXT.encode("utf-32"), BODY),
    "Latin-1": (raw("branch", '"?"').replace(b"?", b"\xe9"), BODY),
    "half a character": (raw("branch", '"?"').replace(b"?", b"\xc3"), BODY),
    "a character written too long": (raw("branch", '"?"').replace(b"?", b"\xc0\xaf"), BODY),
    "a lone surrogate as bytes": (raw("branch", '"?"').replace(b"?", b"\xed\xa0\x80"), BODY),
    "a character beyond Unicode": (raw("branch", '"?"').replace(b"?", b"\xf4\x90\x80\x80"), BODY),
    "a lone surrogate, first half": (raw("branch", r'"\ud800"'), BODY),
    "a lone surrogate, second half": (raw("branch", r'"\udc00"'), BODY),
    "surrogates the wrong way round": (raw("branch", r'"\udc00\ud800"'), BODY),
    "a lone surrogate in a name": (raw("extra", r'{"\ud800": 1}'), BODY),
    "a lone surrogate in an ignored field": (raw("extra", r'"\ud800"'), BODY),
    # too deep
    "lists without end": (raw("extra", "[" * DEEP), BODY),
    "lists, deep": (raw("extra", "[" * DEEP + "]" * DEEP), BODY),
    "objects, deep": (raw("extra", '{"a":' * DEEP + "1" + "}" * DEEP), BODY),
    # a name twice
    "a name twice": (raw("branch", '"a", "branch": "b"'), [*BODY, "branch"]),
    "a name twice, the same": (raw("run_id", '1, "run_id": 1'), [*BODY, "run_id"]),
    "a name twice, escaped": (raw("branch", r'"a", "\u0062ranch": "b"'), [*BODY, "branch"]),
    "a name twice, first null": (raw("suite", 'null, "suite": "s"'), [*BODY, "suite"]),
    "a name twice, in a test": (within("test", "id", '"a", "id": "b"'), [*TEST, "id"]),
    "a name twice, in a commit": (
        within("commit", "subject", '"", "subject": ""'),
        [*COMMITS, "subject"],
    ),
    "a name twice, that is ignored": (raw("extra", '1, "extra": 2'), [*BODY, "extra"]),
    "a name twice, in what is ignored": (
        raw("x", '[0, {"y": {"z": 1, "z": 1}}]'),
        [*BODY, "x", 1, "y", "z"],
    ),
    "the empty name twice": (raw("", '1, "": 1'), [*BODY, ""]),
    "a long name twice": (raw("x" * 600, f'1, "{"x" * 600}": 1'), [*BODY, "x" * 255]),
    # numbers that are none
    "NaN": (within("test", "duration_s", "NaN"), [*TEST, "duration_s"]),
    "Infinity": (within("test", "duration_s", "Infinity"), [*TEST, "duration_s"]),
    "-Infinity": (within("test", "duration_s", "-Infinity"), [*TEST, "duration_s"]),
    "NaN in what is ignored": (raw("extra", "[NaN]"), BODY),
    "Infinity in what is ignored": (raw("extra", '{"a": -Infinity}'), BODY),
    "1e999 in what is ignored": (raw("extra", "[-1e999]"), BODY),
    "400 digits and a point in what is ignored": (raw("extra", "9" * 400 + ".0"), BODY),
    "1e999": (within("test", "duration_s", "1e999"), [*TEST, "duration_s"]),
    "a leading zero": (raw("run_id", "01"), BODY),
    "a leading plus": (raw("run_id", "+1"), BODY),
    "hexadecimal": (raw("run_id", "0x10"), BODY),
    "no digit after the point": (within("test", "duration_s", "1."), BODY),
    "no digit before the point": (within("test", "duration_s", ".5"), BODY),
    "5,000 digits": (raw("run_id", "9" * 5_000), BODY),
    "5,000 digits after the point": (raw("run_id", "1." + "9" * 5_000), [*BODY, "run_id"]),
    # values of another type
    "1.0 for an integer": (raw("run_id", "1.0"), [*BODY, "run_id"]),
    "1e0 for an integer": (raw("run_id", "1e0"), [*BODY, "run_id"]),
    "true for an integer": (raw("run_id", "true"), [*BODY, "run_id"]),
    "text for an integer": (raw("run_id", '"1"'), [*BODY, "run_id"]),
    "null for an integer": (raw("run_id", "null"), [*BODY, "run_id"]),
    "2^63": (raw("run_id", str(2**63)), [*BODY, "run_id"]),
    "2^64": (raw("run_id", str(2**64)), [*BODY, "run_id"]),
    "2^63 attempts": (within("test", "attempts", str(2**63)), [*TEST, "attempts"]),
    "-1": (raw("run_id", "-1"), [*BODY, "run_id"]),
    "true for a number": (within("test", "duration_s", "true"), [*TEST, "duration_s"]),
    "1 for true": (raw("hello_ok", "1"), [*BODY, "hello_ok"]),
    "text for true": (raw("hello_ok", '"true"'), [*BODY, "hello_ok"]),
    "a number for text": (raw("branch", "1"), [*BODY, "branch"]),
    "a list for text": (raw("branch", '["main"]'), [*BODY, "branch"]),
    "an object for a list": (raw("tests", '{"0": {}}'), [*BODY, "tests"]),
    "text for a list": (raw("covers_shas", '"ccccccc"'), [*BODY, "covers_shas"]),
    # text that no store should hold
    "NUL": (raw("branch", r'"a\u0000b"'), [*BODY, "branch"]),
    "NUL in what is ignored": (raw("extra", r'{"a": ["\\\\\u0000"]}'), BODY),
    "NUL in a name that is ignored": (raw("extra", r'{"\u0000": 1}'), BODY),
    "NUL in a test's id": (within("test", "id", r'"\u0000"'), [*TEST, "id"]),
    "NUL in a path": (within("commit", "files", r'["\u0000"]'), [*COMMITS, "files", 0]),
    # commits
    "a commit and a line feed": (raw("sha", '"' + "a" * 40 + r'\n"'), [*BODY, "sha"]),
    "a commit in wide digits": (raw("sha", '"' + "\uff11" * 7 + '"'), [*BODY, "sha"]),
    "a commit and a space": (raw("sha", '" aaaaaaa"'), [*BODY, "sha"]),
    "a commit of 6 digits": (raw("sha", '"aaaaaa"'), [*BODY, "sha"]),
    "a commit of 65 digits": (raw("sha", f'"{"a" * 65}"'), [*BODY, "sha"]),
}

NO_TIMES = {
    "a date": "2026-01-31",
    "no offset": "2026-01-31T09:30:00",
    "a week date": "2026-W05-6T09:30:00Z",
    "a day of the year": "2026-031T09:30:00Z",
    "no separators": "20260131T093000Z",
    "before the first year": "0001-01-01T00:00:00+14:00",
    "after the last year": "9999-12-31T23:59:59-01:00",
    "second 60": "2026-01-31T09:30:60Z",
    "minute 60": "2026-01-31T09:60:00Z",
    "hour 24": "2026-01-31T24:00:00Z",
    "30 February": "2026-02-30T09:30:00Z",
    "an offset with seconds": "2026-01-31T09:30:00+01:00:30",
    "an offset of a day": "2026-01-31T09:30:00+24:00",
    "an offset with 60 minutes": "2026-01-31T09:30:00+01:60",
    "two spaces for T": "2026-01-31  09:30:00Z",
    "a space after it": "2026-01-31T09:30:00Z ",
    "a line feed after it": "2026-01-31T09:30:00Z\\n",
    "wide digits": "\uff12026-01-31T09:30:00Z",
    "a fraction without digits": "2026-01-31T09:30:00,Z",
    "a zone by name": "2026-01-31T09:30:00[Europe/Berlin]",
    "no minutes": "2026-01-31T09Z",
    "nothing": "",
}
REFUSED |= {
    f"time: {name}": (raw("started_at", f'"{text}"'), [*BODY, "started_at"])
    for name, text in NO_TIMES.items()
}
REFUSED["time: a number"] = (raw("started_at", "1769851800"), [*BODY, "started_at"])

TAKEN: dict[str, bytes] = {
    "as it is": TEXT.encode(),
    "white space around it": f" \r\n\t{TEXT}\n".encode(),
    "names escaped": TEXT.replace('"branch"', r'"\u0062ranch"').encode(),
    "-0": within("test", "duration_s", "-0"),
    "-0.0": within("test", "duration_s", "-0.0"),
    "an integer for a number": within("test", "duration_s", "1"),
    "1e2": within("test", "duration_s", "1e2"),
    "a number too small to tell from 0": within("test", "duration_s", "1e-999"),
    "2^63 - 1": raw("run_id", str(2**63 - 1)),
    "a pair of surrogates": raw("branch", r'"\ud83d\ude00"'),
    "letters like NaN in text": raw("branch", '"NaN-Infinity"'),
    "a name like another": raw("Branch", '"a"'),
    "a name twice, in two objects": raw("extra", '[{"a": 1}, {"a": 1}]'),
    "1e308 in what is ignored": raw("extra", "1e308"),
    "text like an escaped NUL": raw("extra", r'"\\u0000 \\\\u0000"'),
    "a newer reporter's field": raw("extra", '{"deep": [[[[null]]]]}'),
    "null for what may be left out": raw("suite", "null"),
    "small letters in a time": raw("started_at", '"2026-01-31t09:30:00z"'),
    "many digits of a second": raw("started_at", '"2026-01-31T09:30:00.1234567891Z"'),
}


def send(url: str, key: str, data: bytes) -> Reply:
    return ask(url, "POST", PATH, ci_key(key), JSON, data=data)


@pytest.mark.parametrize("case", REFUSED)
def test_odd_values_are_400_with_their_path(server: RunningServer, case: str) -> None:
    data, path = REFUSED[case]

    assert send(server.url, server.ci_key, data).issue_paths == [path]


@pytest.mark.parametrize("case", TAKEN)
def test_unusual_values_are_accepted(server: RunningServer, case: str) -> None:
    assert send(server.url, server.ci_key, TAKEN[case]).status == 204


def test_every_name_that_stands_twice_is_named_outer_ones_first(server: RunningServer) -> None:
    data = raw("extra", '{"a": 1, "b": 2, "a": 3, "b": 4, "a": 5}, "workflow": "w"')

    assert send(server.url, server.ci_key, data).issue_paths == [
        ["body", "workflow"],
        ["body", "extra", "a"],
        ["body", "extra", "b"],
    ]


def test_a_text_that_no_database_holds_is_named(server: RunningServer) -> None:
    reply = send(server.url, server.ci_key, raw("extra", r'"\u0000"'))

    assert [issue["message"] for issue in reply.json["issues"]] == ["Text should not hold U+0000"]


def test_a_number_that_is_not_finite_is_named(server: RunningServer) -> None:
    reply = send(server.url, server.ci_key, raw("extra", "[-1e999]"))

    assert [issue["message"] for issue in reply.json["issues"]] == [
        "Invalid JSON: a number is not finite, or too large to be"
    ]


@pytest.mark.parametrize("item", ["[]", "{}", "1", '"a"'])
def test_more_values_than_a_report_has_are_413(server: RunningServer, item: str) -> None:
    values = f"{item}," * VALUES_MAX
    reply = send(server.url, server.ci_key, raw("extra", f"[{values[:-1]}]"))

    assert reply.error == (413, f"The body holds more than {VALUES_MAX} values and names")


def test_a_name_twice_is_refused_in_a_large_body_too(server: RunningServer) -> None:
    data = raw("extra", f'"{" " * 2 * LARGE_BYTES}", "branch": "b"')

    assert send(server.url, server.ci_key, data).issue_paths == [["body", "branch"]]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/auth/login", b'{"email": "a@b", "email": "a@b", "password": "x"}'),
        ("POST", "/api/orgs", b'{"name": "a", "name": "b"}'),
    ],
)
def test_a_name_twice_is_refused_in_every_body(
    server: RunningServer, method: str, path: str, body: bytes
) -> None:
    reply = ask(server.url, method, path, bearer(server.token), JSON, data=body)

    assert reply.issue_paths == [["body", body.split(b'"')[1].decode()]]
