# SPDX-License-Identifier: Apache-2.0
"""The forges whose pull requests hwci comments on, each described as `FORGE` in the module of its
name, and told by the environment of a job.
"""

from hwci.ci.forges import gitea, github, gitlab
from hwci.ci.forges.forge import Forge
from hwci.ci.job import Job

FORGES: tuple[Forge, ...] = (gitea.FORGE, github.FORGE, gitlab.FORGE)
"""Gitea before GitHub, whose variables its jobs have, too."""


def forge_of(job: Job) -> Forge | None:
    """Return the forge that runs a job; None if that is not known."""
    return next((forge for forge in FORGES if forge.is_here(job.environ)), None)
