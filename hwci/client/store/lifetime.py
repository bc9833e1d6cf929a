# SPDX-License-Identifier: Apache-2.0
"""Whether a folder outlives the CI job that writes into it (contract, "Keeping and sending"; ADR
0020). It looks at variables, at the marks of a container and at mounts, and asks nobody. What a CI
system says of the machines that it hosts stands in `hwci.contract.ci_systems`.
"""

from collections.abc import Mapping
from pathlib import Path

from hwci.contract.ci_systems import CI_FILES

CONTAINER_VARIABLES = ("CI_DISPOSABLE_ENVIRONMENT", "KUBERNETES_SERVICE_HOST")
"""Set where only a mounted folder outlives the job (GitLab's executors but `shell` and `ssh`)."""
CONTAINER_FILES = (".dockerenv", "run/.containerenv")
"""The marks of Docker and Podman, below the root."""
CHOSEN = ("HWCI_SPOOL_DIR", "HWCI_STATE_DIR", "XDG_STATE_HOME")
"""Variables by which a person says where a bench keeps what it remembers."""


def outlives_job(folder: Path, environ: Mapping[str, str], root: Path = Path("/")) -> bool:
    """Return whether a later job finds what this one leaves in a folder. In doubt it does not."""
    hosted = filter(None, (file.hosted for file in CI_FILES.values()))
    if any(environ.get(name, "").strip() == value for name, value in hosted):
        return False
    try:
        return not _in_container(environ, root) or _device(folder.resolve()) != root.stat().st_dev
    except (OSError, RuntimeError):  # a link to itself
        return False


def _in_container(environ: Mapping[str, str], root: Path) -> bool:
    marked = any((root / name).exists() for name in CONTAINER_FILES)
    return marked or any(environ.get(name) for name in CONTAINER_VARIABLES)


def _device(place: Path) -> int:
    """Return the device that holds a folder, which may be made later."""
    return next(folder for folder in (place, *place.parents) if folder.exists()).stat().st_dev
