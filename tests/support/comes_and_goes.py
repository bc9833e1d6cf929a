# SPDX-License-Identifier: Apache-2.0
"""A real server that a test starts and stops, at one address and with one database."""

import asyncio
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from hwci.client import Client, calls
from hwci.server.app import serving
from hwci.server.settings import Settings
from tests.support.running import EMAIL, create_key, in_thread, new_organization, sign_in


class ServerThatComesAndGoes:
    """A server of one database at one address, which is started and stopped."""

    def __init__(self, folder: Path, port: int) -> None:
        self._database = folder / "server" / "hwci.db"
        self.org_id = new_organization(self._database)
        self._settings = Settings(
            database=str(self._database), port=port, rate_limit="off", auth_rate_limit="off"
        )
        self.url = f"http://127.0.0.1:{port}"
        self._running: ExitStack | None = None
        self.start()
        self.token = asyncio.run(sign_in(self.url, EMAIL))
        self.ci_key = asyncio.run(create_key(self.url, self.org_id, self.token))

    def start(self) -> None:
        self._running = ExitStack()
        served: AbstractContextManager[object] = in_thread(serving(self._settings))
        self._running.enter_context(served)

    def stop(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None

    def runs(self, repo_key: str) -> list[tuple[int, str, int, int]]:
        """Return run id, commit, and how many tests ran and failed, of each run."""
        with Client(self.url, token=self.token) as client:
            runs = client.send(calls.list_runs(self.org_id, repo_key=repo_key)).items
        return sorted((run.run_id, run.sha, run.tests.total, run.tests.failed) for run in runs)

    def merges(self, repo_key: str) -> list[str]:
        """Return the commits that were announced and never ran."""
        with Client(self.url, token=self.token) as client:
            merges = calls.unchecked_merges(self.org_id, days=3650, repo_key=repo_key)
            return [merge.sha for merge in client.send(merges).items]
