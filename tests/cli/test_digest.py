# SPDX-License-Identifier: Apache-2.0
"""`hwci digest`: what broke, was fixed, is flaky and did not run, as Markdown in which a name is
text.
"""

import pytest
from markdown_it import MarkdownIt

from hwci.ci.reporting import code
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import PRODUCT


@pytest.mark.usefixtures("busy_server")
def test_a_digest_has_a_section_for_each_subject(signed_in: Command, server: RunningServer) -> None:
    own = {"HWCI_ORG": str(server.org_id)}

    code, out, err = signed_in("digest", "--md", "--product", PRODUCT, **own)

    assert code == 0, err
    assert out.startswith("# 7 days of `acme/firmware:sensor-fw`\n")
    sections = dict(part.partition("\n")[::2] for part in out.split("\n## ")[1:])
    assert list(sections) == [
        "Newly broken: 1",
        "Fixed: 2",
        "Flaky: 1",
        "Merges that ran on no hardware: 1",
        "Every bench ran",
    ]
    assert "- `adc` on `bench-1`" in sections["Newly broken: 1"]
    assert "- `i2c` on `bench-1`, branch `main`, by `ccccccc" in sections["Fixed: 2"]
    assert "- `fffffff" in sections["Merges that ran on no hardware: 1"]


@pytest.mark.usefixtures("busy_server")
def test_a_bench_that_ran_before_and_does_not_any_more_is_named(
    signed_in: Command, server: RunningServer
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}

    out = signed_in("digest", "--days", "1", **own).out

    assert "## Benches without a run: 1\n\n- `bench-1`" in out
    assert "## Nothing broke" in out


@pytest.mark.parametrize(
    "name", ["`", "``", "a`b", "[x](http://y)", "@all", " a ", "a\nb", "<b>", "*a*", "`` ` ``", "|"]
)
def test_a_name_is_text_and_ends_no_span(name: str) -> None:
    html = MarkdownIt().render(f"- {code(name)} *after*").replace("<em>after</em>", "")

    assert html.count("<code>") == html.count("</code>") == 1
    assert "<a" not in html
    assert "<em" not in html
    assert "<b>" not in html
