# SPDX-License-Identifier: Apache-2.0
"""What the code cites can be looked up: numbers of the semantics, headings of spec and contract."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [*(ROOT / "hwci").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
CITED = {"semantics": "semantics.md", "contract": "contract.md", "spec": "specification.md"}


def cited(document: str, what: str) -> set[str]:
    """Return everything that sources cite of a document; a line break may fall anywhere."""
    found = set()
    for path in SOURCES:
        text = " ".join(path.read_text().replace("#", " ").split())
        for several in re.findall(
            rf"\b{document},? §?({what}(?:(?:, | and | to |-){what})*)", text
        ):
            found |= set(re.findall(what, several))
    return found


def test_every_cited_number_of_the_semantics_exists() -> None:
    page = (ROOT / "docs" / CITED["semantics"]).read_text()
    there = set(re.findall(r"^## (\d+)\.", page, re.MULTILINE))
    there |= set(re.findall(r"\*\*(\d+\.\d+)\*\*", page))
    numbers = cited("semantics", r"\d+(?:\.\d+)?")

    assert len(numbers) > len(["1.5", "3", "4", "5.1", "6.2", "8.2"])
    assert numbers - there == set()


@pytest.mark.parametrize("document", ["contract", "spec"])
def test_every_cited_heading_exists(document: str) -> None:
    page = (ROOT / "docs" / CITED[document]).read_text()
    headings = cited(document, r'"[^"]+"')

    assert len(headings) > 1
    assert {heading for heading in headings if heading.strip('"') not in page} == set()
