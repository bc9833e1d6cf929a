# SPDX-License-Identifier: Apache-2.0

"""Run records and their events in SQLite."""

from hwci.server.storage.sqlite.rows import Rows


class RunRows(Rows):
    """Run records and their events."""
