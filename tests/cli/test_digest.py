# SPDX-License-Identifier: Apache-2.0
"""`hwci digest`: what broke, was fixed, is flaky and did not run, as text, or as Markdown in which
a name is text.
"""

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from hwci.ci.reporting.summary import code, plain
from tests.ci.hostile_texts import BAD
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import PRODUCT


@pytest.mark.usefixtures("busy_server")
def test_a_digest_has_a_section_for_each_subject(signed_in: Command, server: RunningServer) -> None:
    own = {"HWCI_ORG": str(server.org_id)}

    code, out, err = signed_in("digest", "--md", "--product", PRODUCT, **own)

    assert code == 0, err
    assert out.startswith("# 7 days of <code>acme/firmware&#58;sensor-fw</code>\n")
    sections = dict(part.partition("\n")[::2] for part in out.split("\n## ")[1:])
    assert list(sections) == [
        "Newly broken: 1",
        "Fixed: 2",
        "Flaky: 1",
        "Merges that ran on no hardware: 1",
        "Every bench ran",
    ]
    assert "- <code>adc</code> on <code>bench-1</code>" in sections["Newly broken: 1"]
    assert (
        "- <code>i2c</code> on <code>bench-1</code>, branch <code>main</code>, by <code>ccccccc"
        in sections["Fixed: 2"]
    )
    assert "- <code>fffffff" in sections["Merges that ran on no hardware: 1"]


@pytest.mark.usefixtures("busy_server")
def test_a_bench_that_ran_before_and_does_not_any_more_is_named(
    signed_in: Command, server: RunningServer
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}

    out = signed_in("digest", "--days", "1", **own).out

    assert "\nBenches without a run: 1\n  bench-1\n" in out
    assert "\nNothing broke\n" in out


@pytest.mark.usefixtures("busy_server")
def test_without_md_it_is_plain_text(signed_in: Command, server: RunningServer) -> None:
    out = signed_in("digest", "--product", PRODUCT, HWCI_ORG=str(server.org_id)).out

    assert out.startswith(f"7 days of {PRODUCT}\n")
    assert "\n  i2c on bench-1, branch main, by ccccccc" in out
    assert not re.search("[<`#*]", out)


@pytest.mark.parametrize("text", BAD)
def test_a_name_in_markdown_is_text(text: str) -> None:
    html = MarkdownIt().render(f"- {code(text)} *after*")
    page = Page(html)

    assert page.tags == ["ul", "li", "code", "em"]
    assert page.code == plain(text)


class Page(HTMLParser):
    """The elements that a browser sees, and the text in `<code>`, which is one."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.code, self._is_code = "", False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.append(tag)
        self._is_code = tag == "code"

    def handle_data(self, data: str) -> None:
        if self._is_code:
            self.code += data

    def handle_endtag(self, _: str) -> None:
        self._is_code = False
