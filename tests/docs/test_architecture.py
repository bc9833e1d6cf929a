# SPDX-License-Identifier: Apache-2.0
"""The picture of the house is the house: its layers are the import contracts, its files exist."""

import re
import tomllib
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text()
GUIDES = [
    ROOT / name
    for name in ("docs/architecture.md", "CONTRIBUTING.md", "docs/README.md", "docs/glossary.md")
]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
BY_ID = {contract["id"]: contract for contract in CONTRACTS}
FOLDERS = ("hwci", "tests", "docs", "examples", ".ci", ".github")
PLACEHOLDER = "NAME"


def layers(contract: str) -> list[list[str]]:
    """Return the layers of a contract, the highest first, each as the rooms beside each other."""
    return [re.split(r" [|:] ", layer) for layer in BY_ID[contract]["layers"]]


def allowed() -> set[tuple[str, str]]:
    """Return each room with each room that it may import."""
    rooms = layers("rooms")
    below = {
        pair
        for i, upper in enumerate(rooms)
        for lower in rooms[i + 1 :]
        for pair in product(upper, lower)
    }
    apart = (
        [module.removeprefix("hwci.") for module in contract["modules"]]
        for contract in CONTRACTS
        if contract["type"] == "independence"
    )
    return below - {pair for one, other in apart for pair in ((one, other), (other, one))}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_file_that_a_guide_names_exists(guide: Path) -> None:
    named = re.findall(rf"`((?:{'|'.join(map(re.escape, FOLDERS))})/[^`*{{ ]+)`", guide.read_text())
    missing = [path for path in named if PLACEHOLDER not in path and not (ROOT / path).exists()]

    assert missing == []


@pytest.mark.parametrize("contract", ["rooms", "server-floors"])
def test_the_page_shows_the_layers_of_a_contract(contract: str) -> None:
    assert "\n".join(BY_ID[contract]["layers"]) in PAGE


def test_every_arrow_of_the_picture_is_allowed_and_every_room_is_drawn() -> None:
    arrows = set(re.findall(r"^ +(\w+) --> (\w+)$", PAGE, re.MULTILINE))
    drawn = {room for arrow in arrows for room in arrow}

    assert arrows - allowed() == set()
    assert {room for layer in layers("rooms")[1:] for room in layer} - drawn == set()


def test_the_page_names_every_contract() -> None:
    assert [one["name"] for one in CONTRACTS if one["name"] not in PAGE] == []
