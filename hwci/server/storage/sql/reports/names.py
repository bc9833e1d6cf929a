# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""Long values that reports repeat, kept once: products, test names, test lists and changes.

This module decides how such a value is recognized (by name, or by a digest of its content). A test
is a small number within its product; a report's tests are the number of a test list. The list of
the same tests in the order of their numbers stands for their set. Names and lists are never
deleted; changes are deleted with the last report that carries them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hwci.contract.runs.commits import ChangeList
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.reports import digests

# Each value of the list is a product and a test in one number.
_OF_TESTS = """
SELECT t.product_id, t.number, t.name
FROM json_each(?) j
CROSS JOIN test t
  ON t.org_id = ? AND t.product_id = j.value >> 32 AND t.number = j.value & 4294967295
"""
_LISTS = 64  # a list of a thousand tests is 40 KB


def product_id(connection: Connection, org: bytes, repo_key: str, suite: str) -> int:
    """Return the number of a product, made if it is new."""
    where = "org_id = ? AND repo_key = ? AND suite = ?"
    values = (org, repo_key, suite)
    for (number,) in connection.rows(f"SELECT id FROM product WHERE {where}", values):
        return int(number)
    return connection.added(
        "INSERT INTO product (org_id, repo_key, suite) VALUES (?, ?, ?)", values
    )


class Listed(NamedTuple):
    """A list of tests: its number, that of the list which stands for their set, the numbers of its
    tests in order, and the digest of their names.
    """

    number: int
    test_set: int
    tests: tuple[int, ...]
    digest: bytes


def test_list(connection: Connection, org: bytes, product: int, names: tuple[str, ...]) -> Listed:
    """Return the list of these test names, made if it is new. It never changes once it is kept."""
    digest = digests.of_names(names)
    key = org, product, digest
    listed = connection.lists.get(key)
    if listed is None:
        if len(connection.lists) == _LISTS:
            connection.lists.clear()
        listed = connection.lists[key] = _test_list(connection, org, product, names, digest)
    return listed


def _test_list(
    connection: Connection, org: bytes, product: int, names: tuple[str, ...], digest: bytes
) -> Listed:
    for number, test_set, packed in connection.rows(
        "SELECT id, set_id, tests FROM template WHERE org_id = ? AND product_id = ? AND digest = ?",
        (org, product, digest),
    ):
        return Listed(number, test_set, codec.unpack_numbers(packed), digest)
    tests = _test_numbers(connection, org, product, names)
    number = connection.added(
        "INSERT INTO template (org_id, product_id, digest, tests) VALUES (?, ?, ?, ?)",
        (org, product, digest, codec.pack_numbers(tests)),
    )
    in_order = tuple([name for _, name in sorted(zip(tests, names, strict=True))])
    is_set = in_order == names
    test_set = number if is_set else test_list(connection, org, product, in_order).number
    connection.execute(
        "UPDATE template SET set_id = ? WHERE org_id = ? AND id = ?", (test_set, org, number)
    )
    return Listed(number, test_set, tests, digest)


def _test_numbers(
    connection: Connection, org: bytes, product: int, names: Sequence[str]
) -> tuple[int, ...]:
    """Return the numbers of tests, made for new ones."""
    known = of_names(connection, org, product, names)
    missing = [name for name in names if name not in known]
    if missing:
        ((start,),) = connection.rows(
            "SELECT coalesce(max(number) + 1, 0) FROM test WHERE org_id = ? AND product_id = ?",
            (org, product),
        )
        fresh = {name: start + index for index, name in enumerate(missing)}
        connection.execute_many(
            "INSERT INTO test (org_id, product_id, number, name) VALUES (?, ?, ?, ?)",
            [(org, product, number, name) for name, number in fresh.items()],
        )
        known |= fresh
    return tuple(known[name] for name in names)


def of_names(
    connection: Connection, org: bytes, product: int, names: Iterable[str]
) -> dict[str, int]:
    """Return the numbers of those of these tests of a product that are known."""
    return dict(
        connection.rows(
            "SELECT t.name, t.number FROM json_each(?) j CROSS JOIN test t"
            " ON t.org_id = ? AND t.product_id = ? AND t.name = j.value",
            (codec.texts(names), org, product),
        )
    )


def of_tests(
    connection: Connection, org: bytes, tests: Mapping[int, Iterable[int]]
) -> dict[int, dict[int, str]]:
    """Return the names of these tests, by product."""
    names: dict[int, dict[int, str]] = {product: {} for product in tests}
    both = codec.numbers(product << 32 | test for product, some in tests.items() for test in some)
    if both:
        for product, number, name in connection.rows(_OF_TESTS, (both, org)):
            names[product][number] = name
    return names


def changes_id(
    connection: Connection, org: bytes, repo_key: str, changes: ChangeList
) -> tuple[int, bytes]:
    """Return the number of a `changes` object, new if need be, and its digest."""
    commits = codec.commits_json(changes.commits)
    digest = digests.of_changes(changes, commits)
    for (number,) in connection.rows(
        "SELECT id FROM changes WHERE org_id = ? AND repo_key = ? AND digest = ?",
        (org, repo_key, digest),
    ):
        return int(number), digest
    made = connection.added(
        "INSERT INTO changes (org_id, repo_key, digest, base_sha, truncated, body)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (org, repo_key, digest, changes.base_sha, changes.truncated, codec.pack_commits(commits)),
    )
    index_changes(connection, org, repo_key, made, changes)
    return made, digest


def index_changes(
    connection: Connection, org: bytes, repo_key: str, number: int, changes: ChangeList
) -> None:
    """Note which commits a `changes` object lists."""
    connection.execute_many(
        "INSERT INTO changes_commit (org_id, repo_key, sha, changes_id) VALUES (?, ?, ?, ?)",
        [(org, repo_key, sha, number) for sha in {commit.sha for commit in changes.commits}],
    )


def drop_unused_changes(
    connection: Connection, org: bytes, repo_key: str, number: int, changes: ChangeList
) -> None:
    """Delete a `changes` object that no report carries any more. Who carries it mentions all of its
    commits; one that names none is kept.
    """
    named = changes.base_sha or next((commit.sha for commit in changes.commits), None)
    used = named is None or connection.row(
        "SELECT 1 FROM mention m CROSS JOIN report r ON r.org_id = m.org_id AND r.id = m.report_id"
        " WHERE m.org_id = ? AND m.repo_key = ? AND m.sha = ? AND r.changes_id = ? LIMIT 1",
        (org, repo_key, named, number),
    )
    if used:
        return
    connection.execute("DELETE FROM changes WHERE org_id = ? AND id = ?", (org, number))
    connection.execute_many(
        "DELETE FROM changes_commit"
        " WHERE org_id = ? AND repo_key = ? AND sha = ? AND changes_id = ?",
        [(org, repo_key, sha, number) for sha in {commit.sha for commit in changes.commits}],
    )
