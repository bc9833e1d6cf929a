# SPDX-License-Identifier: Apache-2.0
"""The documentation says what the code does."""

import os
import re
from pathlib import Path

import pytest

from docs import ci_systems
from docs.generate import PAGES, REFERENCE, WRITTEN
from hwci.ci.systems import SYSTEMS
from hwci.contract.vocabulary import REASONS

ROOT = Path(__file__).parents[2]
PAGES_OF_PEOPLE = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *ROOT.glob("examples/**/*.md"),
]


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    """`make docs` writes the pages."""
    assert (REFERENCE / name).read_text() == PAGES[name]()


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_what_is_written_from_code_is_what_that_code_says(path: Path) -> None:
    """`make docs` writes them."""
    assert path.read_text() == WRITTEN[path]()


def test_the_guide_has_what_ci_systems_say_of_themselves() -> None:
    text = ci_systems.GUIDE.read_text()

    assert [f"| {system.title} |" in text for system in SYSTEMS if system.api] == [True] * 4
    assert {field for system in SYSTEMS for field in system.guide} <= set(ci_systems.FIELDS)


def test_every_reason_text_stands_in_the_reference() -> None:
    page = (REFERENCE / "reasons.md").read_text()

    assert [row.text for row in REASONS.values() if row.text not in page] == []


@pytest.mark.parametrize("page", PAGES_OF_PEOPLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text())

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_variable_that_is_read_is_documented() -> None:
    """Settings of the server and of the command line, by their names in the code."""
    page = (REFERENCE / "settings.md").read_text()
    sources = [ROOT / "hwci/server/settings.py", *(ROOT / "hwci/cli").rglob("*.py")]
    names = {
        name for path in sources for name in re.findall(r"\bHWCI_[A-Z_]+[A-Z]", path.read_text())
    }

    assert {name for name in names if f"`{name}`" not in page} == set()
    assert not set(os.environ) & {"HWCI_URL", "HWCI_TOKEN"}, "the tests must not use your sign-in"
