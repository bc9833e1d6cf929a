# SPDX-License-Identifier: Apache-2.0
"""`BOX=FILE` is a path where such a path exists, and else a file of a box."""

from pathlib import Path

import pytest

from hwci.ci.detect import find_job
from hwci.ci.reporting.results import files_of, placed


@pytest.mark.parametrize(
    ("there", "text", "box", "path"),
    [
        ("config=release/a.xml", "config=release/*.xml", "own", None),
        ("config=release/a.xml", "config=release/a.xml", "own", None),
        ("config=release/a.xml", "config=release/later.xml", "own", None),
        ("config=release/deep/a.xml", "config=release/**/*.xml", "own", None),
        ("config=release/a.xml", "config=*/*.xml", "own", None),
        ("config=release/a.xml", "c*=release/*.xml", "own", None),
        ("config=release/a.xml", "./config=release/*.xml", "own", None),
        ("out/config=release/a.xml", "out/config=release/*.xml", "own", None),
        ("out/config=release/a.xml", "*/config=release/*.xml", "own", None),
        ("results-rev=3.xml", "results-rev=*.xml", "own", None),
        ("results-rev=3.xml", "results-rev=3.xml", "own", None),
        ("config=release/a.xml", "b1=config=release/*.xml", "b1", "config=release/*.xml"),
        ("config=release/a.xml", "b1=*.xml", "b1", "*.xml"),
        ("release/a.xml", "config=release/*.xml", "config", "release/*.xml"),
        ("release/a.xml", "config=release/a.xml", "config", "release/a.xml"),
        ("a.xml", "b1=a.xml", "b1", "a.xml"),
    ],
)
def test_a_path_with_an_equals_sign_is_one_where_it_exists(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: str,
    text: str,
    box: str,
    path: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / there
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    job = find_job({}, {"HWCI_BOX": "own"}, None, None)

    assert placed(job, [text]) == [(box, path or text)]
    if "later" not in text and text != "b1=*.xml":
        assert [one.resolve() for one in files_of(path or text, None)] == [file.resolve()]
