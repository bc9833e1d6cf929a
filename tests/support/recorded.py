# SPDX-License-Identifier: Apache-2.0
"""The recorded environments of CI systems, by name."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "ci/environments"
NAMES = sorted(path.stem for path in FOLDER.glob("*.env"))


def recorded(name: str) -> dict[str, str]:
    """Return the variables of a job, with the path of its event file here."""
    lines = (FOLDER / f"{name}.env").read_text().splitlines()
    environ = dict(line.split("=", 1) for line in lines)
    if "GITHUB_EVENT_PATH" in environ:
        environ["GITHUB_EVENT_PATH"] = str(FOLDER / environ["GITHUB_EVENT_PATH"])
    return environ
