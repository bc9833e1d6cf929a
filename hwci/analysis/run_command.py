# SPDX-License-Identifier: Apache-2.0
"""The command that makes a proposed run, and the one that asks for the next, as lines to paste into
a shell. Nothing runs here.
"""

import shlex
from collections.abc import Mapping

from hwci.engine.facts import Product

TO_FILL_IN = (
    "COMMAND is what runs your tests, such as pytest --junit-xml out.xml; FILE is the result file"
    " that it writes, here out.xml"
)
"""What is to be filled in; the CI job of the product has both."""


def run_command(product: Product, box_key: str, branch: str, sha: str) -> str:
    """Return a line that checks out a commit, runs the tests on it and reports them; COMMAND and
    FILE in it are for the reader to fill in.
    """
    flags = {
        "--repo-key": product.repo_key,
        "--suite": product.suite,
        "--box": box_key,
        "--branch": branch,
        "--sha": sha,
        "--trigger": "manual",
    }
    words = " ".join(f"{flag} {shlex.quote(value)}" for flag, value in flags.items())
    return f"git checkout --detach {sha} && hwci exec {words} --junit FILE -- COMMAND"


def next_command(
    product: Product, test_id: str, good: str, bad: str, more: Mapping[str, object]
) -> str:
    """Return the line that asks for the runs after these. `more`: other flags that it takes."""
    named = {"--product": f"{product.repo_key}:{product.suite}", "--good": good, "--bad": bad}
    words = [shlex.quote(test_id)]
    for flag, value in {**named, **more}.items():
        words += [flag, shlex.quote(f"{value}")]
    return f"hwci bisect next {' '.join(words)}"
