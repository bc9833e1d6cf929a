# SPDX-License-Identifier: Apache-2.0
"""`hwci tests show`: one test over time, from reports to the row of each box, and what it says of a
test, a product or a period that is not there (contract, "Answers beside the rules").
"""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, report, running_in_thread
from tests.support.scene import report as scene_report

PRODUCT = ("--product", "acme/firmware:hardware")


@pytest.fixture(scope="module")
def with_reports(server: RunningServer) -> RunningServer:
    """A server to which two boxes reported a test; it passes on bench-1."""
    for number in range(8):
        box = f"bench-{number % 2 + 1}"
        attempts = 2 if number % 2 else 1
        test = {"id": "i2c", "outcome": "pass", "attempts": attempts, "duration_s": 1}
        body = report(run_id=number, sha=f"{number:07x}", box_key=box, tests=[test])
        reply = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)
        assert reply.status == 204, reply
    return server


def answer(server: RunningServer, query: str) -> Reply:
    path = f"/api/orgs/{server.org_id}/ci-analysis/test?{query}"
    return ask(server.url, "GET", path, bearer(server.member_token))


@pytest.mark.usefixtures("with_reports")
def test_each_box_has_a_row_with_its_rate_and_what_its_runs_did(signed_in: Command) -> None:
    code, out, err = signed_in("tests", "show", "i2c", *PRODUCT, COLUMNS="200")
    [one, two] = [line.split() for line in out.splitlines() if line.startswith("bench-")]

    assert code == 0
    assert " ".join(one).startswith("bench-1 0 of 4: 0.0 % (0.0-")
    assert " ".join(two).startswith("bench-2 4 of 4: 100.0 % (")
    head, answered, *_ = err.splitlines()
    assert re.fullmatch(
        r"acme/firmware:hardware i2c · last 30 days to 20[-\d]+ \d\d:\d\d UTC", head
    )
    assert answered.startswith("Not enough data to say whether it is flaky: ")
    assert "Its first attempt failed in 4 of all 8 runs on 2 boxes; " in err
    assert "Retried in the same run: 4 results, of which 4 passed then." in err
    assert "Run again on the commit and box of a failed run: none." in err


@pytest.mark.usefixtures("with_reports")
def test_beside_the_row_of_one_box_stands_of_which_boxes_the_rest_is(signed_in: Command) -> None:
    _, out, err = signed_in("tests", "show", "i2c", *PRODUCT, "--box", "bench-1", COLUMNS="200")

    assert ("bench-1 " in out, "bench-2 " in out) == (True, False)
    assert "The row is of bench-1; what is said here is of all boxes of the test." in err


@pytest.mark.usefixtures("with_reports")
def test_a_program_reads_the_same_figures_as_json_and_csv(signed_in: Command) -> None:
    found = json.loads(signed_in("tests", "show", "i2c", *PRODUCT, "--json").out)
    out = signed_in("tests", "show", "i2c", *PRODUCT, "--output", "csv").out
    header, _, row = out.splitlines()
    exact = dict(zip(header.split(","), row.split(","), strict=True))

    assert [box["boxKey"] for box in found["boxes"]] == ["bench-1", "bench-2"]
    assert float(exact["first.high"]) == found["boxes"][1]["first"]["high"] == 1
    assert found["all"]["attempts"] == 12


@pytest.mark.usefixtures("with_reports")
def test_what_is_not_there_is_named_with_what_to_do(signed_in: Command) -> None:
    wrong = {
        ("i2",): "did you mean i2c?",
        ("x" * 1000,): "512 characters",
        ("i2c", "--days", "0"): "at least 1",
        ("i2c", "--product", "acme/firmware:hardwear"): "did you mean hardware?",
    }
    for asked, said in wrong.items():
        code, out, err = signed_in("tests", "show", *PRODUCT, *asked)
        assert (code != 0, out) == (True, ""), asked
        assert said in err
    earlier = signed_in("tests", "show", "i2c", *PRODUCT, "--as-of", "2001-01-01T00:00:00Z")
    assert (earlier.code, earlier.out) == (0, "")
    assert "No run of this period had the test." in earlier.err


@pytest.mark.parametrize("zone", ["Mars/Base", "", "x" * 1000, "../../etc/passwd"])
def test_a_zone_that_there_is_not_is_named(with_reports: RunningServer, zone: str) -> None:
    product = "repoKey=acme/firmware&suite=hardware&testId=i2c"
    reply = answer(with_reports, f"{product}&zone={quote(zone)}")

    assert reply.status == 400
    assert [one["path"] for one in reply.json["issues"]] == [["query", "zone"]]


def test_a_query_names_product_and_test(with_reports: RunningServer) -> None:
    for missing in ("suite=s&testId=t", "repoKey=r&testId=t", "repoKey=r&suite=s"):
        assert answer(with_reports, missing).status == 400
    assert answer(with_reports, f"repoKey=r&suite=s&testId={quote('x' * 513)}").status == 400


@pytest.mark.usefixtures("with_reports")
@pytest.mark.parametrize(
    ("asked", "found"),
    [((), ["i2c"]), (("--search", "HARDWARE 2C"), ["i2c"]), (("--search", "i2c spi"), [])],
)
def test_tests_are_found_by_words_of_their_name_and_product(
    signed_in: Command, asked: tuple[str, ...], found: list[str]
) -> None:
    rows = json.loads(signed_in("tests", "list", "--json", *asked).out)

    assert [row["testId"] for row in rows] == found


@pytest.mark.usefixtures("with_reports")
def test_tests_of_a_product_that_nothing_names_are_refused(signed_in: Command) -> None:
    code, _, err = signed_in("tests", "list", "--product", "acme/firmware:hardwear")

    assert code != 0
    assert "hardware" in err


def test_a_product_is_asked_for_only_where_several_have_the_test(
    cli: Command, tmp_path: Path
) -> None:
    with running_in_thread(tmp_path) as server:
        given = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token}
        with Client(server.url, ci_key=server.ci_key) as job:
            job.send(calls.report_run(scene_report(1, "a" * 40, {"i2c": "pass", "adc": "pass"})))
            alone = cli("tests", "show", "i2c", **given)
            other = scene_report(2, "b" * 40, {"i2c": "pass", "spi": "pass"})
            job.send(calls.report_run(other.model_copy(update={"suite": "boot"})))
        of_one = cli("tests", "show", "spi", **given)
        of_two = cli("tests", "show", "i2c", **given)

    assert (alone.code, of_one.code, of_two.code) == (0, 0, 2)
    assert "acme/firmware:boot, acme/firmware:sensor-fw" in of_two.err
    assert "fix: Use --product" in of_two.err
