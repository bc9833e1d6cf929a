# SPDX-License-Identifier: Apache-2.0
"""Gitea and Forgejo: comments and statuses are GitHub's, below an address of their own. All
comments of a pull request are one list, and any token may ask who it is.
"""

from dataclasses import replace

from hwci.ci.forges import github
from hwci.ci.forges.forge import TOKEN
from hwci.ci.systems.api import at_path

_JOBS = ("GITEA_ACTIONS", "FORGEJO_ACTIONS")

FORGE = replace(
    github.FORGE,
    title="Gitea",
    is_here=lambda environ: any(map(environ.get, _JOBS)),
    tokens=(TOKEN, "GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"),
    rights="the scopes `write:issue`, `write:repository` and `read:user`",
    needs=("GITHUB_API_URL", "GITHUB_REPOSITORY"),
    header=lambda token: {"Authorization": f"token {token}"},
    own_user=lambda environ, request: at_path(
        request("GET", f"{environ['GITHUB_API_URL'].rstrip('/')}/user"), "id"
    ),
    pages=None,
)
