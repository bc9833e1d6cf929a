# SPDX-License-Identifier: Apache-2.0
"""Names and whole lists to look up: products, configurations, all failures and runs."""

import csv
import io
import json

import pytest

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import CONFIGURATION, PRODUCT, REPO, SUITE

pytestmark = pytest.mark.usefixtures("busy_server")


def test_products_are_listed_by_the_name_that_filters_take(signed_in: Command) -> None:
    code, out, err = signed_in("products")

    assert (code, err) == (0, "")
    assert PRODUCT in out
    (row,) = csv.DictReader(io.StringIO(signed_in("products", "-o", "csv").out))
    assert (row["repoKey"], row["suite"], row["configured"]) == (REPO, SUITE, "true")


@pytest.mark.parametrize("name", [PRODUCT, SUITE])
def test_a_configuration_is_listed_and_shown_as_apply_takes_it(
    signed_in: Command, name: str
) -> None:
    assert PRODUCT in signed_in("suite-config", "list").out

    shown = signed_in("suite-config", "show", name)

    assert json.loads(shown.out) == {
        "repo_key": REPO,
        "suite": SUITE,
        "firmware_paths": ["drivers/**"],
        "harness_paths": ["hil/**"],
        "merge_trigger": True,
    }


def test_a_product_without_configuration_is_an_error_with_the_nearest(signed_in: Command) -> None:
    code, out, err = signed_in("suite-config", "show", f"{REPO}:sensor")

    assert (code, out) == (1, "")
    assert f"cause: did you mean {PRODUCT}?" in err

    slip = signed_in("suite-config", "show", "sensr")
    assert (slip.code, slip.out) == (2, "")
    assert f"cause: none has the suite 'sensr'; did you mean {SUITE}?\n" in slip.err


@pytest.mark.parametrize(
    "command",
    [
        *(("failures", "list"), ("runs", "list"), ("merges", "list"), ("incidents", "list")),
        *(("boxes", "health"), ("tests", "list"), ("trends",), ("metrics",)),
    ],
)
def test_the_suite_alone_names_a_product_as_lists_show_it(
    signed_in: Command, command: tuple[str, ...]
) -> None:
    whole = signed_in(*command, "--product", PRODUCT)
    short = signed_in(*command, "--product", SUITE)

    assert (short.code, short.out) == (0, whole.out)
    slip = signed_in(*command, "--product", "sensr")
    assert (slip.code, slip.out) == (2, "")
    assert f"cause: none has the suite 'sensr'; did you mean {SUITE}?\n" in slip.err


@pytest.mark.parametrize("command", [("failures", "list"), ("runs", "list")])
def test_all_writes_the_rows_of_every_page(signed_in: Command, command: tuple[str, str]) -> None:
    page = json.loads(signed_in(*command, "--limit", "2", "--json").out)
    whole = json.loads(signed_in(*command, "--all", "--limit", "2", "--json").out)

    assert page["total"] > len(page["items"])
    assert len({row["id"] for row in whole}) == len(whole) == page["total"]
    assert [row["id"] for row in whole[:2]] == [row["id"] for row in page["items"]]
    assert signed_in(*command, "--all", "--page", "2").code == 2


@pytest.mark.parametrize(
    "command",
    [
        ("metrics", "--product", f"{REPO}:sensr"),
        ("metrics", "--table", "real-bugs", "--repo-key", "acme/firmwre"),
        ("failures", "list", "--repo-key", "acme/firmwre"),
    ],
)
def test_a_name_that_nothing_has_is_an_error_with_the_nearest(
    signed_in: Command, command: tuple[str, ...]
) -> None:
    code, out, err = signed_in(*command)

    assert (code, out) == (1, "")
    assert "did you mean" in err


@pytest.mark.parametrize("name", ["failures", "incidents"])
def test_a_list_is_narrowed_by_box_branch_and_commit_of_its_rows(
    signed_in: Command, name: str
) -> None:
    def total(*flags: str) -> int:
        return int(
            json.loads(signed_in(name, "list", *flags, "--limit", "1", "--json").out)["total"]
        )

    row = json.loads(signed_in(name, "list", "--json").out)["items"][0]
    box = row.get("boxKey") or row["boxes"][0]
    sha = row.get("sha") or row["firstCommit"]["sha"]

    assert total() == total("--box", box) == total("--branch", row["branch"])
    assert 0 < total("--sha", sha[:4]) < total()
    assert total("--box", "nowhere") == 0
    assert signed_in(name, "list", "--sha", "").code == 2


@pytest.mark.parametrize("command", [("bisect", "status"), ("bisect", "next"), ("tests", "show")])
def test_a_test_with_a_slip_is_answered_with_the_nearest(
    signed_in: Command, server: RunningServer, command: tuple[str, str]
) -> None:
    of_one = signed_in(*command, "i2", "--product", PRODUCT)
    with Client(server.url, ci_key=server.ci_key) as ci:
        ci.send(calls.put_suite_config(CONFIGURATION.model_copy(update={"suite": "second"})))
    of_two = signed_in(*command, "i2")

    assert (of_one.code, of_one.out, "did you mean i2c?" in of_one.err) == (1, "", True)
    assert (of_two.code, of_two.out) == (2, "")
    assert "cause: no report names the test 'i2'; did you mean i2c?\n" in of_two.err


@pytest.mark.parametrize("command", [("failures", "list"), ("runs", "list")])
def test_a_list_of_a_test_that_no_report_names_says_the_nearest(
    signed_in: Command, command: tuple[str, str]
) -> None:
    whole = signed_in(*command, "--test", "i2")
    of_one = signed_in(*command, "--test", "i2", "--product", PRODUCT, "-o", "csv")
    known = signed_in(*command, "--test", "i2c", "--branch", "mian")

    where = "hwci tests list shows those that there are (did you mean i2c?)\n"
    assert (whole.code, whole.out + whole.err) == (0, f"No report names the test i2: {where}")
    assert (of_one.code, of_one.err) == (0, f"No report of {PRODUCT} names the test i2: {where}")
    assert "names the test" not in known.out + known.err


def test_a_suite_of_several_repositories_is_told_with_all(
    signed_in: Command, server: RunningServer
) -> None:
    with Client(server.url, ci_key=server.ci_key) as ci:
        ci.send(calls.put_suite_config(CONFIGURATION.model_copy(update={"repo_key": "acme/b"})))
    answer = signed_in("runs", "list", "--product", SUITE)

    assert answer.code == 2
    assert f"several have the suite '{SUITE}': acme/b:{SUITE}, {PRODUCT}\n" in answer.err
