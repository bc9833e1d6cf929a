# SPDX-License-Identifier: Apache-2.0
"""What `hwci.toml` says, and each fault of it with its place."""

import json
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for
from pydantic import ValidationError

from docs import project_schema
from hwci import __version__
from hwci.ci.new_project import guess
from hwci.ci.project import (
    File,
    Names,
    ProjectFileError,
    find_project,
    project_path,
    read_project,
)
from hwci.contract.vocabulary import Verdict
from hwci.engine.patterns import check_patterns

ROOT = Path(__file__).parents[2]
SCHEMA = validator_for(json.loads(project_schema.SCHEMA.read_text()))
GUESSED = (["src/a.c", "hil/a.py"], ["west.yml", "hil/boot/testcase.yaml"])

WHOLE = """
repo_key = "acme/firmware"

[[product]]
suite = "sensor-fw"
firmware_paths = ["src/**", "!src/**/README.md"]
harness_paths = ["hil/**"]
box = "bench-1"

[[product]]
repo_key = "acme/gateway"
suite = "gateway-fw"
firmware_paths = ["gateway/**"]
harness_paths = []
trigger_paths = ["gateway/**"]
merge_trigger = false

[[verdict]]
message = "relay .* stuck"
verdict = "infra"

[[verdict]]
message = "HardFault"
verdict = "device"
"""

EVERY_KEY = f"""
messages = true
{WHOLE}
[product.targets]
merges_checked = 95
infra_runs = 5

[firmware]
checkout = "../fw"

[links]
commit = "https://git.example/{{repo}}/commit/{{sha}}"

[tests]
names = "by-file"
platforms = "as-boxes"
"""

KNOWN = {
    "file": "known: repo_key, firmware, messages, links, tests, product, verdict",
    "product": "known: repo_key, suite, firmware_paths, harness_paths, trigger_paths, "
    "merge_trigger, targets, box",
}


def write(folder: Path, text: str = WHOLE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "hwci.toml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(path: Path, text: str) -> list[str]:
    with pytest.raises(ProjectFileError) as raised:
        read_project(write(path, text))
    return [fault.removeprefix(f"{path / 'hwci.toml'}: ") for fault in raised.value.faults]


def product(more: str) -> str:
    return f'[[product]]\nsuite = "x"\nfirmware_paths = []\nharness_paths = []\n{more}\n'


def test_a_product_has_the_repository_of_the_file_unless_it_names_its_own(tmp_path: Path) -> None:
    sensor, gateway = read_project(write(tmp_path)).products

    assert (sensor.repo_key, sensor.suite, sensor.box) == ("acme/firmware", "sensor-fw", "bench-1")
    assert (gateway.repo_key, gateway.box) == ("acme/gateway", None)


def test_the_server_gets_paths_and_trigger_and_not_the_box(tmp_path: Path) -> None:
    sensor, gateway = (item.configuration() for item in read_project(write(tmp_path)).products)

    assert sensor.model_dump() == {
        "repo_key": "acme/firmware",
        "suite": "sensor-fw",
        "firmware_paths": ["src/**", "!src/**/README.md"],
        "harness_paths": ["hil/**"],
        "trigger_paths": None,
        "merge_trigger": True,
        "links": None,
        "targets": None,
    }
    assert "targets" not in sensor.model_dump(exclude_unset=True)
    assert (gateway.trigger_paths, gateway.merge_trigger) == (["gateway/**"], False)


def test_targets_go_along_with_their_product(tmp_path: Path) -> None:
    text = product("[product.targets]\nmerges_checked = 95\ninfra_runs = 2.5")
    (one,) = read_project(write(tmp_path, text)).products

    sent = one.configuration("acme/firmware")

    assert sent.model_dump()["targets"] == {"merges_checked": 95, "infra_runs": 2.5}


def test_tests_are_told_apart_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    assert read_project(write(tmp_path)).names is Names.APART
    assert read_project(write(tmp_path, '[tests]\nnames = "by-file"\n')).names is Names.BY_FILE
    with pytest.raises(ProjectFileError, match="tests: names: Should be one of apart, by-file"):
        read_project(write(tmp_path, "[tests]\nnames = 3\n"))


def test_an_unknown_key_of_the_tests_is_named_with_its_place(tmp_path: Path) -> None:
    project = read_project(write(tmp_path, '[tests]\nname = "by-file"\n'))

    assert "1 unknown key: tests: name (did you mean names?)" in project.unknown
    assert project.names is Names.APART


def test_verdict_rules_keep_their_order(tmp_path: Path) -> None:
    rules = read_project(write(tmp_path)).verdicts

    assert [(pattern.pattern, verdict) for pattern, verdict in rules] == [
        ("relay .* stuck", Verdict.INFRA),
        ("HardFault", Verdict.DEVICE),
    ]


def test_the_file_that_the_guide_shows_says_what_the_guide_says(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "how-to" / "describe-a-product.md").read_text()
    project = read_project(write(tmp_path, guide.split("```toml")[1].split("```")[0]))

    (one,) = project.products
    assert (one.suite, one.box, one.merge_trigger) == ("sensor-fw", "bench-1", True)
    assert [verdict for _, verdict in project.verdicts] == [Verdict.INFRA]


def test_a_file_of_windows_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeff" + WHOLE.replace("\n", "\r\n"))

    assert len(read_project(path).products) == 2


def test_a_file_without_a_repository_leaves_that_to_the_ci(tmp_path: Path) -> None:
    project = read_project(write(tmp_path, product("")))

    assert (project.repo_key, project.products[0].repo_key) == (None, None)


FAULTS = [
    (product('trigger_paths = ["a", "b?"]'), "product 1: trigger_paths, item 2: A pattern mu"),
    (product('merge_trigger = "yes"'), "product 1: merge_trigger: Input should be a valid bo"),
    (product("targets = 95"), "product 1: targets: Input should be"),
    (
        product("targets = { infra_runs = 101 }"),
        "product 1: targets: infra_runs: Should be a share in percent, from 0 to 100",
    ),
    (product("targets = { infra_runs = nan }"), "product 1: targets: infra_runs: "),
    (product('box = ""'), "product 1: box: String should have at least 1 character"),
    ('[[product]]\nsuite = "x"\nharness_paths = []', "product 1: firmware_paths: Field requi"),
    ('[product]\nsuite = "x"', "product: Should be a list: write [[product]]"),
    (product('trigger_paths = "a"'), "product 1: trigger_paths: Should be a list"),
    ('[[verdict]]\nmessage = "("\nverdict = "infra"', "verdict 1: message: Should be a regula"),
    ('[[verdict]]\nmessage = ""\nverdict = "infra"', "verdict 1: message: Should be text"),
    ('[[verdict]]\nmessage = "x"\nverdict = "bench"', "verdict 1: verdict: Should be one of d"),
    ("[[product]\n", "Expected ']]' at the end of an array declaration (at line 1, column 10)"),
    ("repo_key = 1", "repo_key: Input should be a valid string"),
]


@pytest.mark.parametrize(("text", "fault"), FAULTS)
def test_a_fault_is_named_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    (found,) = faults(tmp_path, text)

    assert found.startswith(fault)


UNKNOWN = [
    (product("trigger_path = []"), "product 1: trigger_path (did you mean trigger_paths?)"),
    (product("") + product("colour = 1"), f"product 2: colour ({KNOWN['product']})"),
    ("products = []", "products (did you mean product?)"),
    ("[future.table]", f"future ({KNOWN['file']})"),
    ('[links]\ncomit = "x"', "links: comit (did you mean commit?)"),
    (
        product("targets = { merge_checked = 95 }"),
        "product 1: targets: merge_checked (did you mean merges_checked?)",
    ),
    ('[links]\nevil = "x"', "links: evil (known: commit, file, pull)"),
    ('"a\\nb" = 1', f"a\nb ({KNOWN['file']})"),
]


@pytest.mark.parametrize(("text", "named"), UNKNOWN)
def test_an_unknown_key_is_left_out_and_named_with_its_place(
    tmp_path: Path, text: str, named: str
) -> None:
    path = write(tmp_path, f"{text}\n")

    assert read_project(path).unknown == (
        f"{path}: 1 unknown key: {named}. Correct what is misspelt; "
        f"if a newer hwci than {__version__} knows the rest, update hwci"
    )


NOT_IN_A_SCHEMA = ('message = "("', "nan", "[[product]\n")
"""A regular expression of Python, what JSON cannot hold, and TOML itself."""


def test_the_schema_refuses_what_is_refused_and_unknown_keys() -> None:
    texts = [text for text, _ in (*FAULTS, *UNKNOWN)]
    refusable = [text for text in texts if not any(part in text for part in NOT_IN_A_SCHEMA)]

    assert len(refusable) == len(texts) - len(NOT_IN_A_SCHEMA)
    assert [text for text in refusable if SCHEMA.is_valid(tomllib.loads(text))] == []


def written_for_people() -> Iterator[str]:
    """Yield each `hwci.toml` of the repository, and what pages show of one."""
    for path in ROOT.glob("examples/**/hwci.toml"):
        yield path.read_text()
    for page in (*ROOT.glob("docs/how-to/*.md"), *ROOT.glob("examples/*/README.md")):
        for block in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL):
            if re.search(r"^\[\[?(product|tests|verdict)\]", block, re.MULTILINE):
                yield block


def test_the_schema_takes_every_project_file_that_people_are_shown() -> None:
    texts = [*written_for_people(), WHOLE, *(guess(files, "fw", None).text for files in GUESSED)]

    assert len(texts) == 1 + 5 + 1 + len(GUESSED)
    assert [text for text in texts if not SCHEMA.is_valid(tomllib.loads(text))] == []


def replaced(value: Any, by: Any) -> Iterator[Any]:
    """Yield what a value becomes if one thing in it, at any depth, is replaced."""
    yield by
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            for other in replaced(inner, by):
                whole = value.copy()
                whole[key] = other
                yield whole


@pytest.mark.parametrize(
    "by",
    [
        *(1, 100.5, -1, True, "", "x", "!", "!a", "a?", "n" * 300),
        *([], {}, ["!a", "b*"], ["b{"], ["a"] * 201),
    ],
)
def test_the_schema_takes_and_refuses_what_the_reader_does(by: object) -> None:
    """The reader does not look at links; the schema describes those that are sent."""
    whole = tomllib.loads(EVERY_KEY)
    assert SCHEMA.is_valid(whole)
    for content in replaced(whole, by):
        try:
            File.model_validate(content)
            taken = True
        except ValidationError:
            taken = False
        if not isinstance(content, dict) or content.get("links") == whole["links"]:
            order = by == ["!a", "b*"]  # of patterns, which no schema knows
            assert SCHEMA.is_valid(content) is taken or order, content


@given(st.text("a!?*[]{}+\\/é\n", max_size=6))
def test_one_pattern_is_legal_in_the_schema_if_it_is_to_the_rules(pattern: str) -> None:
    content = tomllib.loads(product(""))
    content["product"][0]["firmware_paths"] = [pattern]

    assert SCHEMA.is_valid(content) is (check_patterns([pattern]) == [])


def test_the_first_of_many_unknown_keys_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f"a{number} = 1\n" for number in range(12)))

    assert (
        f"12 unknown keys: a0 ({KNOWN['file']}), a1, a2, a3, a4, a5, a6, a7, a8, a9 and 2 more. "
        in read_project(path).unknown
    )


def test_every_fault_is_named(tmp_path: Path) -> None:
    both = product("box = 1") + '[[verdict]]\nmessage = "("\nverdict = "bench"\n'

    assert [fault.split(":")[0] for fault in faults(tmp_path, both)] == [
        "product 1",
        "verdict 1",
        "verdict 1",
    ]


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'repo_key = "caf\xe9"\n')
    for name, why in (
        ("no.toml", "cannot be read: No such file"),
        ("latin.toml", "is not text in UTF-8"),
    ):
        with pytest.raises(ProjectFileError, match=why):
            read_project(tmp_path / name)


@pytest.mark.parametrize("mark", ["folder", "file"])
def test_the_file_is_found_from_any_folder_of_the_repository(tmp_path: Path, mark: str) -> None:
    (tmp_path / "hwci.toml").write_text("repo_key = 'outside'")
    repository, deep = tmp_path / "repository", tmp_path / "repository" / "a" / "b"
    deep.mkdir(parents=True)
    (repository / ".git").mkdir() if mark == "folder" else (repository / ".git").write_text("x")

    assert find_project(deep) is None  # the one outside belongs to somebody else
    at_root = write(repository)
    assert project_path(deep) == at_root
    nearer = write(repository / "a")
    assert project_path(deep) == nearer


def test_outside_any_repository_only_the_folder_itself_is_looked_at(tmp_path: Path) -> None:
    deep = tmp_path / "a"
    deep.mkdir()
    write(tmp_path)

    assert project_path(deep) is None
    assert project_path(tmp_path) == tmp_path / "hwci.toml"


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """Make a folder that cannot be searched, as another user than root, who could."""
    was = os.geteuid()
    folder.chmod(0)
    try:
        if was == 0:
            os.seteuid(12_345)
        yield
    finally:
        os.seteuid(was)
        folder.chmod(0o700)


def test_a_file_that_nobody_can_look_for_is_not_taken_for_none(tmp_path: Path) -> None:
    deep = tmp_path / "closed" / "work"
    write(deep)

    why = f"hwci.toml cannot be looked for from {deep}: Permission denied; "
    for ask in (find_project, project_path):
        with closed(deep.parent), pytest.raises(ProjectFileError) as raised:
            ask(deep)
        assert raised.value.faults == (f"{why}call hwci in a folder that this user may look into",)
