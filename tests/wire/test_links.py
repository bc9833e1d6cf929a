# SPDX-License-Identifier: Apache-2.0
"""Templates of links: which give an address, and which are guessed (contract, "Links")."""

import pytest

from hwci.wire.links import guessed, template_fault

GOOD = {
    "commit": "https://git.example:8443/{repo}/commit/{sha}",
    "file": "HTTP://git/view?path={path}&at={sha}#top",
    "pull": "https://git.example/{number}",
}
NO_ADDRESS = {
    "javascript:{sha}": "http:// or https://",
    "git.example/{sha}": "http:// or https://",
    "https://{repo}/{sha}": "http:// or https://",
    "https://git.example/{{sha}}": "http:// or https://",
    "https://git.example/{sha} {repo}": "without blanks",
    "https://ada:hunter2@git.example/{sha}": "without a password",
    "https://git.example/{hash}": "{hash} is not a placeholder; known: number, path, repo, sha",
    "https://git.example/": "Should hold {sha}",
}


@pytest.mark.parametrize(("kind", "template"), GOOD.items())
def test_a_template_that_gives_an_address_is_taken(kind: str, template: str) -> None:
    assert template_fault(kind, template) is None


@pytest.mark.parametrize(("template", "why"), NO_ADDRESS.items())
def test_a_template_that_gives_no_address_is_refused(template: str, why: str) -> None:
    assert why in (template_fault("commit", template) or "")


@pytest.mark.parametrize(
    ("remote", "file"),
    [
        ("git@github.com:acme/fw.git", "https://github.com/acme/fw/blob/{sha}/{path}"),
        (
            "https://oauth2:hunter2@gitlab.example:8443/a/b/fw.git",
            "https://gitlab.example:8443/a/b/fw/-/blob/{sha}/{path}",
        ),
        ("ssh://git@codeberg.org/acme/fw", "https://codeberg.org/acme/fw/src/commit/{sha}/{path}"),
        ("git@bitbucket.org:acme/fw.git", "https://bitbucket.org/acme/fw/src/{sha}/{path}"),
        (
            "git@ssh.dev.azure.com:v3/acme/lab/fw",
            "https://dev.azure.com/acme/lab/_git/fw?path=/{path}&version=GC{sha}",
        ),
        ("https://git.example/acme/fw", None),
        ("/srv/github/fw.git", None),
        ("", None),
    ],
)
def test_the_site_of_a_remote_is_known_by_its_host(remote: str, file: str | None) -> None:
    assert guessed(remote).get("file") == file
