# SPDX-License-Identifier: Apache-2.0
"""What the dashboard took from others is what they published, but for what is written down."""

import hashlib
import json
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

import hwci.server.web

FOLDER = Path(hwci.server.web.__file__).with_name("static") / "vendor"
RECORD: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "vendor.toml").read_text())
PACKAGES, FILES = RECORD["packages"], RECORD["files"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_every_vendored_file_is_recorded_and_as_it_was_taken() -> None:
    held = {path.name: sha256(path.read_bytes()) for path in FOLDER.iterdir()}
    del held["vendor.toml"]

    assert held == {name: file["here"] for name, file in FILES.items()}


def test_every_package_has_a_version_and_a_licence_whose_text_is_here() -> None:
    assert {file["package"] for file in FILES.values()} == set(PACKAGES)
    for name, package in PACKAGES.items():
        assert (FOLDER / f"{name}-LICENSE.txt").exists()
        assert package["licence"]
        assert package["tarball"].endswith(f"/{name}-{package['version']}.tgz")


@pytest.fixture(scope="module", params=sorted(PACKAGES))
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A package's name and files, as the registry gives them."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    name, folder = request.param, tmp_path_factory.mktemp("package")
    wanted = f"{name}@{PACKAGES[name]['version']}"
    command = [npm, "pack", wanted, "--json", "--ignore-scripts", "--fetch-retries=0"]
    try:
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip(f"npm could not fetch {wanted}")
    with tarfile.open(folder / json.loads(done.stdout)[0]["filename"]) as tarball:
        for member in filter(tarfile.TarInfo.isfile, tarball.getmembers()):
            content = tarball.extractfile(member)
            assert content is not None
            target = folder / member.name
            assert target.resolve().is_relative_to(folder.resolve())
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
    return name, folder / "package"


def test_every_vendored_file_can_be_made_again_from_its_package(package: Any) -> None:
    name, folder = package
    for here, file in FILES.items():
        if file["package"] != name:
            continue
        data = (folder / file["from"]).read_bytes()
        assert sha256(data) == file["upstream"]
        for was, now in file["replaced"]:
            assert data.count(was.encode()) == 1, (here, was)
            data = data.replace(was.encode(), now.encode())
        assert data == (FOLDER / here).read_bytes()


def test_the_type_check_reads_the_types_of_the_same_versions() -> None:
    pinned = json.loads((Path(__file__).parents[2] / ".ci/js/package.json").read_text())

    versions = {name: package["version"] for name, package in PACKAGES.items()}
    assert versions.items() <= pinned["devDependencies"].items()
