# SPDX-License-Identifier: Apache-2.0
"""The wheels of hwci that this server hands out: the one that it runs from, and those of earlier
versions, which pipelines pin (contract, "Install"; docs/adr/0020).

This module decides what is in a wheel and where wheels are kept. It does not know addresses beyond
their path, nor who installs what.
"""

import asyncio
import hashlib
import logging
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import hwci
from hwci.contract.ci_systems import CiSystem
from hwci.server.errors import NotFoundError
from hwci.version import build_version, package_files
from hwci.wire.wheels import WheelAnswer

LOG = logging.getLogger("hwci.server")

ADDRESS = "/dist/"
_INFO = ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE")
_NAME_DIGITS = 12
_UNIX = 3
"""The system in a wheel's list of files, also where it is made on another."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel. `file`: its name, which has its version."""

    file: str
    sha256: str

    @property
    def folder(self) -> str:
        """The folder of its address and on the disk: other content of one version has another."""
        return self.sha256[:_NAME_DIGITS]

    @property
    def answer(self) -> WheelAnswer:
        """Where it is, and its hash."""
        version = self.file.split("-")[1]
        path = f"{ADDRESS}{self.folder}/{self.file}"
        return WheelAnswer(
            version=version, path=path, sha256=self.sha256, ci_systems=list(CiSystem)
        )


class Wheels:
    """Wheels in a folder; None: only the server's own, in a folder that ends with the server."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._temporary: TemporaryDirectory[str] | None = None
        self._own: tuple[Wheel, Path] | None = None
        self._making = Lock()

    async def current(self) -> WheelAnswer:
        """Return the wheel that the server runs from. Raises `NotFoundError`: there is none."""
        wheel = await asyncio.to_thread(self._current)
        return wheel.answer

    async def listed(self) -> list[WheelAnswer]:
        """Return all wheels, by their file names; a damaged one is left out."""
        return await asyncio.to_thread(self._listed)

    async def file(self, folder: str, file: str) -> Path | None:
        """Return where a wheel is, by its address; None if there is no such wheel."""
        return await asyncio.to_thread(self._file, folder, file)

    async def prepare(self) -> None:
        """Make the server's wheel now; a line of the log notes if it cannot be made."""
        try:
            await self.current()
        except NotFoundError as fault:
            LOG.warning("%s", fault)

    def close(self) -> None:
        """Remove what is not kept."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def _current(self) -> Wheel:
        """Return the server's own wheel, made once, as long as its file is there."""
        with self._making:
            if self._own is None or not self._own[1].exists():
                wheel, content = make_wheel()
                self._own = wheel, self._keep(wheel, content)
            return self._own[0]

    def _keep(self, wheel: Wheel, content: bytes) -> Path:
        try:
            if self._folder is not None:
                return _write(wheel, content, self._folder)
        except OSError as fault:
            LOG.warning("%s cannot be kept for pipelines that pin it: %s", wheel.file, fault)
        try:
            if self._temporary is None:
                self._temporary = TemporaryDirectory(prefix="hwci-wheel-")
            return _write(wheel, content, Path(self._temporary.name))
        except OSError as fault:
            raise _none(f"{fault.filename}: {fault.strerror}") from fault

    def _listed(self) -> list[WheelAnswer]:
        with suppress(NotFoundError):  # those of earlier versions are here all the same
            self._current()
        wheels = {wheel for path in self._files() if (wheel := _kept(path)) is not None}
        return [
            wheel.answer for wheel in sorted(wheels, key=lambda wheel: (wheel.file, wheel.sha256))
        ]

    def _file(self, folder: str, file: str) -> Path | None:
        with suppress(NotFoundError):
            self._current()
        named = (path for path in self._files() if (path.parent.name, path.name) == (folder, file))
        return next((path for path in named if _kept(path)), None)

    def _files(self) -> Iterable[Path]:
        temporary = None if self._temporary is None else Path(self._temporary.name)
        folders = filter(None, (self._folder, temporary))
        return [path for folder in folders for path in folder.glob("*/hwci-*.whl")]


def make_wheel() -> tuple[Wheel, bytes]:
    """Return the wheel of the hwci that runs, and its bytes, made from its installed files. The
    same files always make the same bytes: sorted, not compressed, without times.

    Raises:
        NotFoundError: it cannot be made.
    """
    try:
        info = distribution("hwci")
    except PackageNotFoundError as fault:
        raise _none("hwci runs from a folder where it is not installed") from fault
    if info.version.partition("+")[0] != hwci.__version__:
        raise _none(f"hwci {hwci.__version__} runs, and {info.version} is installed")
    version = build_version()
    installed, folder = f"hwci-{info.version}.dist-info", f"hwci-{version}.dist-info"
    try:
        files = dict(package_files())
        for name in _INFO:
            path = Path(str(info.locate_file(f"{installed}/{name}")))
            files[f"{folder}/{name}"] = path.read_bytes()
    except OSError as fault:
        raise _none(f"{fault.filename}: {fault.strerror}") from fault
    # A checkout was installed as it was then, and a release has no digest.
    metadata = f"{folder}/METADATA"
    files[metadata] = files[metadata].replace(
        f"\nVersion: {info.version}\n".encode(), f"\nVersion: {version}\n".encode(), 1
    )
    content = _zipped(files, version)
    digest = hashlib.sha256(content).hexdigest()
    return Wheel(f"hwci-{version}-py3-none-any.whl", digest), content


def _none(why: str) -> NotFoundError:
    return NotFoundError(f"This server has no wheel to hand out: {why}; install it with pip")


def _zipped(files: Mapping[str, bytes], version: str) -> bytes:
    record = f"hwci-{version}.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in sorted(files.items())]
    content = BytesIO()
    with ZipFile(content, "w", ZIP_STORED) as into:
        for name, data in (
            *sorted(files.items()),
            (record, "".join((*lines, record, ",,\n")).encode()),
        ):
            entry = ZipInfo(name)
            entry.create_system, entry.external_attr = _UNIX, 0o644 << 16
            into.writestr(entry, data)
    return content.getvalue()


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write(wheel: Wheel, content: bytes, folder: Path) -> Path:
    """Write a wheel, whole or not at all, and return where it is. Raises `OSError`."""
    path = folder / wheel.folder / wheel.file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(content)
        part.replace(path)
    return path


def _kept(path: Path) -> Wheel | None:
    """Return the wheel in a file; None if it is damaged."""
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(256)
def _read(path: Path, _changed: int) -> Wheel | None:
    """Return the same; each file is read once."""
    with path.open("rb") as file:
        wheel = Wheel(path.name, hashlib.file_digest(file, "sha256").hexdigest())
    if wheel.folder == path.parent.name:
        return wheel
    LOG.warning("%s is damaged and not served", path)
    return None
