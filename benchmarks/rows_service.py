# SPDX-License-Identifier: Apache-2.0
"""A service as one would write it in an afternoon: FastAPI, and SQLAlchemy with a row for each test
item in SQLite. It derives nothing.

`python -m benchmarks.rows_service FILE`; it prints its port.
"""

import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI, Response
from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    event,
)

from benchmarks import bare

_METADATA = MetaData()
REPORTS = Table(
    "report",
    _METADATA,
    Column("id", Integer, primary_key=True),
    *(Column(name, String) for name in ("repo_key", "suite", "workflow", "trigger", "branch")),
    *(Column(name, String) for name in ("sha", "box_key", "conclusion")),
    *(Column(name, Integer) for name in ("run_id", "run_attempt")),
    *(Column(name, DateTime) for name in ("started_at", "ended_at")),
    Column("hello_ok", Boolean),
)
ITEMS = Table(
    "item",
    _METADATA,
    Column("id", Integer, primary_key=True),
    Column("report_id", ForeignKey("report.id")),
    Column("test_id", String),
    Column("outcome", String),
    Column("attempts", Integer),
    Column("duration_s", Float),
    Column("verdict", String),
    Index("item_report", "report_id"),
    Index("item_test", "test_id", "outcome"),
)


def service(file: str) -> FastAPI:
    """Return the service on a database."""
    engine = create_engine(f"sqlite:///{file}")
    event.listen(engine, "connect", _configure)
    _METADATA.create_all(engine)

    def take(body: bare.Report) -> Response:
        _keep(engine, body)
        return Response(status_code=204)

    app = FastAPI()
    app.add_api_route("/api/ci/run-report", take, methods=["POST"], status_code=204)
    return app


def _configure(connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's own
    for pragma in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _keep(engine: Engine, body: bare.Report) -> None:
    with engine.begin() as connection:
        head = body.model_dump(include={column.name for column in REPORTS.columns})
        report_id = connection.execute(REPORTS.insert().values(head)).lastrowid
        rows = [
            {"report_id": report_id, "test_id": item.id, **item.model_dump(exclude=_NO_COLUMNS)}
            for item in body.tests
        ]
        if rows:
            connection.execute(ITEMS.insert(), rows)


_NO_COLUMNS = {"id", "message"}


def main() -> None:
    """Serve until it is ended."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(service(sys.argv[1]), log_level="error")).run([listening])


if __name__ == "__main__":
    main()
