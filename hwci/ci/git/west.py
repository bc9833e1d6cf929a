# SPDX-License-Identifier: Apache-2.0
"""A workspace of west, and the projects that a manifest of it names, with those that it imports.
The library of west reads them (`hwci[west]`); no command of west is run, and nothing is fetched.
"""

from collections.abc import Callable, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import west.manifest

_CONFIG = Path(".west", "config")
_DEFAULT = "west.yml"


class Project(NamedTuple):
    """A project: its path in the workspace, and the commit, tag or branch that is checked out."""

    path: str
    revision: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace of which a repository holds the manifest. `manifest`: its path in there."""

    folder: Path
    manifest: str


class UnreadableManifestError(Exception):
    """It is unknown which projects a manifest names."""


ContentAt = Callable[[Project, str], "str | list[str]"]
"""Returns a file of a project at its revision; of a folder, each manifest in it.

Raises:
    UnreadableManifestError: it is not there.
"""


def workspace_of(repository: Path) -> Workspace | None:
    """Return the workspace whose manifest the repository in a folder holds."""
    for folder in repository.parents:
        if (folder / _CONFIG).is_file():
            return _configured(folder, repository)
    return None


def _configured(folder: Path, repository: Path) -> Workspace | None:
    config = ConfigParser(interpolation=None)
    try:
        config.read(folder / _CONFIG, encoding="utf-8")
        path = config.get("manifest", "path")
        manifest = config.get("manifest", "file", fallback=_DEFAULT)
    except (ConfigError, UnicodeDecodeError, OSError):
        return None
    return Workspace(folder, manifest) if (folder / path).resolve() == repository else None


def projects_of(manifest: str, content_at: ContentAt) -> Mapping[str, Project]:
    """Return the projects of a manifest, by name.

    Raises:
        UnreadableManifestError: it, or one that it imports, cannot be read.
    """
    try:
        from west.manifest import Manifest
    except ImportError as fault:
        raise UnreadableManifestError("hwci needs its extra: pip install 'hwci[west]'") from fault

    def imported(project: "west.manifest.Project", path: str) -> "str | list[str]":
        return content_at(Project(project.path, project.revision), path)

    try:
        # Its errors have no class in common, and those of its parser are others.
        named = Manifest.from_data(manifest, importer=imported).projects[1:]
    except UnreadableManifestError:
        raise
    except Exception as fault:
        why = " ".join(str(fault).split())
        raise UnreadableManifestError(f"west cannot read it: {why}") from fault
    return {project.name: Project(project.path, project.revision) for project in named}
