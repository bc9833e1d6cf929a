# SPDX-License-Identifier: Apache-2.0
"""Whether a folder outlives the job: on benches it does, on machines of one job it does not."""

from pathlib import Path

import pytest

from hwci.client.store.lifetime import outlives_job
from tests.ci.systems import CASES


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """The root of a machine that is not a container."""
    return tmp_path


@pytest.fixture
def container(tmp_path: Path) -> Path:
    (tmp_path / ".dockerenv").touch()
    return tmp_path


def test_what_a_bench_keeps_outlives_the_job(bench: Path) -> None:
    assert outlives_job(bench / "home/state/spool", {}, bench)


@pytest.mark.parametrize("name", ["TMPDIR", "RUNNER_TEMP", "HOME"])
def test_the_path_of_a_folder_says_nothing(bench: Path, name: str) -> None:
    assert outlives_job(bench / "spool", {name: str(bench)}, bench)
    assert outlives_job(Path("/tmp/hwci/spool"), {}, bench)


@pytest.mark.parametrize(
    ("name", "fresh", "own"),
    [cases.hosted for cases in CASES.values() if cases.hosted],
)
def test_a_hosted_machine_ends_with_its_job_and_an_own_runner_does_not(
    bench: Path, name: str, fresh: str, own: str
) -> None:
    assert not outlives_job(bench, {name: fresh}, bench)
    assert outlives_job(bench, {name: own}, bench)


@pytest.mark.parametrize("name", ["CI_DISPOSABLE_ENVIRONMENT", "KUBERNETES_SERVICE_HOST"])
def test_what_a_container_keeps_for_itself_ends_with_it(bench: Path, name: str) -> None:
    assert not outlives_job(bench / "spool", {name: "true"}, bench)


@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_a_container_is_known_by_its_mark(bench: Path, mark: str) -> None:
    (bench / mark).parent.mkdir(exist_ok=True)
    (bench / mark).touch()
    assert not outlives_job(bench / "spool", {}, bench)


def test_a_folder_that_is_mounted_into_a_container_outlives_it(container: Path) -> None:
    mounted = Path("/proc")  # a file system of its own on each Linux
    if not mounted.is_dir() or mounted.stat().st_dev == container.stat().st_dev:
        pytest.skip("there is no other file system here")
    assert outlives_job(mounted, {}, container)
