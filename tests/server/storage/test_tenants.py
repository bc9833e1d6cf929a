# SPDX-License-Identifier: Apache-2.0
"""Every statement on a tenant's table names the organization for each table that it touches."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from hwci.contract.people import Actor
from hwci.contract.vocabulary import DeliveryStatus, Role
from hwci.engine.facts import Product, failure_id
from hwci.engine.history import Scope, Where
from hwci.engine.page.evidence import evidence
from hwci.server.storage.records import CiKey, Counting, KeepDays, Kept, ReaderKey
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.connections import open_writer
from hwci.server.storage.sqlite.whole import tables_in_order
from tests.server.storage.examples import (
    ACME,
    ADA,
    BOB,
    BOX,
    BOX_NOTE,
    DELIVERY,
    ENTRY,
    FAILURE,
    IDENTITY,
    INVITE,
    JOB_KEY,
    KEY,
    KNOWN,
    NOON,
    ONGOING,
    READER_KEY,
    REVIEW,
    SESSION,
    SET_UP,
    TOKEN,
    TRUST,
    WEBHOOK,
)
from tests.server.storage.histories import EVER, ORG, HistoryDraw, questions
from tests.server.storage.live_runs import ask_runs, record_runs

# `ports.py` names these exceptions: no organization is known yet when they are asked, or it is the
# housekeeping, which goes over all of them.
NO_TENANT = {
    *("organization", "user", "session", "refresh_token", "identity", "invite"),
}
BY_OTHER_KEYS = {
    ("ci_key", "digest = "),
    ("reader_key", "digest = "),
    ("job_key", "digest = "),
    ("ci_trust", "SELECT ? FROM ci_trust t WHERE t.issuer = "),
    ("job_key", "WHERE k.kept_until < "),
    ("box", "WHERE b.key_digest = "),
    ("box", "WHERE b.install_digest = "),
    ("membership", "m.user_id = "),
    ("audit_entry", "ORDER BY number"),
    ("audit_entry", "(SELECT coalesce(max(number), ?) FROM audit_entry)"),
    ("live_run", "WHERE l.lost = ? AND l.heard_at <= "),
    ("delivery", "WHERE d.due_at IS NULL AND d.at < "),
    ("webhook", "FROM webhook w ORDER BY w.org_id, w.id"),
    ("webhook", "WHERE w.enabled = ? AND EXISTS ("),
}
TABLE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO) (\w+)(?: ((?!ON|WHERE|SET|INDEXED|CROSS)\w+))?")


def record_everything(writer: Transaction) -> None:
    record_people(writer)
    record_keys_and_boxes(writer)
    writer.add_audit(ACME.id, ENTRY)
    writer.people([ADA.id])
    record_runs(writer)
    draw = HistoryDraw(3)
    for _ in range(60):
        writer.put_report(ORG, draw.next_report(), NOON)
        writer.announce(ORG, draw.announcement(), NOON)
        writer.put_config(ORG, draw.config(), NOON)
    writer.replaced(ORG, NOON)
    writer.drop_replaced(ORG, NOON)
    writer.put_review(ORG, failure_id(ORG, FAILURE), REVIEW)
    ask_everything(writer, draw)
    writer.rename_reviewer(ORG, Actor(ADA.id, "somebody"))
    writer.drop_reviews(ORG, [failure_id(ORG, FAILURE)])
    for kind in Kept:
        writer.set_counting(ORG, kind, Counting(30, NOON))
        writer.drop_aged(ORG, kind, NOON + timedelta(hours=5), 9)
    writer.set_counting(ORG, Kept.LOGS, None)
    writer.counting(ORG)
    writer.set_keep_days(ORG, KeepDays())
    writer.rebuild(ORG)
    writer.remove_membership(ACME.id, ADA.id)
    writer.users_apart()
    writer.erase_user(BOB)
    writer.set_erase_at(ACME.id, NOON)
    writer.organizations_to_erase(NOON)
    writer.drop_organization(ACME.id, 9_999)


def record_people(writer: Transaction) -> None:
    writer.add_organization(ACME)
    writer.add_usage(ACME.id, 7, 5)
    writer.add_user(ADA)
    writer.add_membership(ACME.id, ADA.id, Role.OWNER, NOON)
    writer.set_role(ACME.id, ADA.id, Role.OWNER)
    writer.add_identity(IDENTITY)
    writer.add_invite(SET_UP)
    writer.add_invite(INVITE)
    writer.use_invite(INVITE.digest, NOON)
    writer.add_session(SESSION)
    writer.add_refresh_token(TOKEN)
    writer.use_refresh_token(TOKEN.digest, NOON)
    writer.expire_tokens(ADA.id)
    writer.drop_refresh_tokens(NOON, 9)
    writer.withdraw_invites(ACME.id, "new@example.org", NOON)
    writer.drop_invites(NOON - timedelta(days=1), 9)
    writer.end_session(SESSION.id, NOON)
    writer.end_sessions(ADA.id, NOON)
    writer.set_ci_metrics(ACME.id, enabled=True)


def record_keys_and_boxes(writer: Transaction) -> None:
    for key in (KEY, READER_KEY):
        writer.add_key(key)
        writer.touch_key(key, NOON)
        writer.revoke_key(type(key), ACME.id, key.id, NOON)
    writer.put_trust(TRUST)
    writer.trusts(ACME.id, 0, 9)
    writer.trusts_in(ACME.id, TRUST.issuer)
    writer.is_trusted(TRUST.issuer)
    writer.add_job_key(JOB_KEY)
    writer.job_key(JOB_KEY.digest)
    writer.drop_job_keys(NOON + timedelta(days=2), 9)
    writer.remove_trust(ACME.id, TRUST.id)
    writer.add_box(BOX)
    writer.set_install(ACME.id, BOX.id, b"install", NOON + timedelta(hours=1))
    writer.install_box(ACME.id, BOX.id, b"install", b"key", NOON)
    writer.touch_box(ACME.id, BOX.id, NOON)
    writer.rename_box(ACME.id, BOX.id, BOX.name)
    writer.add_box(replace(BOX, id=UUID(int=52), name="b2", install_digest=None))
    writer.add_box_note(ACME.id, BOX_NOTE)
    writer.add_box_note(ACME.id, replace(BOX_NOTE, id=UUID(int=81), box_key="b2"))
    writer.rename_noter(ACME.id, Actor(ADA.id, "somebody"))
    writer.remove_box_note(ACME.id, BOX_NOTE.id)
    writer.box_notes_of(ACME.id, EVER)
    writer.add_known_failure(ACME.id, KNOWN)
    writer.rename_rule_maker(ACME.id, Actor(ADA.id, "somebody"))
    writer.remove_known_failure(ACME.id, KNOWN.id)
    writer.boxes_seen(ACME.id)
    for box_key in (None, "b1"):
        writer.box_notes(ORG, box_key, 0, 9)
    writer.remove_box(ACME.id, UUID(int=52))
    record_webhooks(writer)


def record_webhooks(writer: Transaction) -> None:
    writer.put_webhook(WEBHOOK)
    writer.add_delivery(DELIVERY)
    writer.put_ongoing(ONGOING)
    writer.ongoing(ACME.id, WEBHOOK.id, ONGOING.event)
    writer.remove_ongoing(ONGOING)
    writer.every_webhook()
    writer.webhooks(ACME.id, 0, 9)
    writer.webhook(ACME.id, WEBHOOK.id)
    writer.webhooks_due(NOON)
    until = NOON + timedelta(minutes=1)
    [taken] = writer.take_deliveries(ACME.id, WEBHOOK.id, NOON, until, 9)
    writer.settle_delivery(
        replace(taken, due_at=until), replace(taken, status=DeliveryStatus.DELIVERED, due_at=None)
    )
    writer.deliveries(ACME.id, WEBHOOK.id, 0, 9)
    writer.resend_delivery(ACME.id, WEBHOOK.id, DELIVERY.id, NOON)
    writer.change_deliveries(ACME.id, lambda data: {**data, "text": "another"})
    writer.drop_deliveries(NOON, 9)
    writer.remove_webhook(ACME.id, WEBHOOK.id)


def ask_narrowed(writer: Transaction) -> None:
    writer.configs(ORG, 0, 1)
    where = Where("b1", "main", "abcd")
    for scope in (Scope(), Scope("fw"), Scope("fw", "hil")):
        writer.boxes(ORG, 0, 1, scope, where)
        writer.reported_boxes(ORG, 0, 1, scope, where)
        writer.configs(ORG, 0, 1, scope)
    writer.history(ORG).test_names(Product("fw", "hil"), where)


def ask_everything(writer: Transaction, draw: HistoryDraw) -> None:
    writer.user(ADA.id)
    writer.any_user()
    writer.organization_ids()
    writer.members(ORG, 0, 1)
    writer.owners(ORG)
    writer.user_by_identity(IDENTITY.issuer, IDENTITY.subject)
    writer.invite(INVITE.digest)
    writer.invite_by_id(INVITE.id)
    writer.open_invite(ORG, "new@example.org", NOON)
    writer.open_invites("new@example.org", NOON, 0, 1)
    writer.invites_of(ORG, NOON, 0, 1)
    writer.has_identity(ADA.id)
    writer.session(SESSION.id)
    writer.refresh_token(TOKEN.digest)
    writer.memberships(ADA.id, 0, 1)
    for kind in (CiKey, ReaderKey):
        writer.keys(kind, ORG, 0, 1)
        writer.key_by_digest(kind, KEY.digest)
    writer.boxes(ORG, 0, 1)
    writer.reported_boxes(ORG, 0, 1)
    ask_narrowed(writer)
    writer.box(ORG, BOX.id)
    writer.box_by_key(b"key")
    writer.box_by_install(b"install")
    writer.audit_log(ORG, 0, 1)
    writer.audit_page(0, 1)
    writer.version(ORG)
    ask_runs(writer)
    facts = writer.facts(ORG)
    for _ in questions(writer.history(ORG), facts, draw.random):
        pass
    for failure in writer.history(ORG).failures(Scope(), EVER):
        evidence(writer.history(ORG), failure.id, 200)


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return every statement that a full use runs, with its values taken out."""
    folder: Path = tmp_path_factory.mktemp("tenants")
    connection = open_writer(folder / "hwci.db")
    seen: set[str] = set()

    def keep(statement: str) -> None:
        bare = re.sub(r"(x?'(?:[^']|'')*'|\b\d+\b)", "?", statement, flags=re.IGNORECASE)
        seen.add(" ".join(bare.split()))

    connection.execute("BEGIN")
    connection.raw.set_trace_callback(keep)
    record_everything(Transaction(connection))
    connection.raw.set_trace_callback(None)
    connection.close()
    return seen


def tables(statement: str) -> list[tuple[str, str]]:
    """Return the tables of a statement, each with the name that its columns go by."""
    given = {"json_each", "hit", "name", "SET"}  # lists, what is found so far, and `DO UPDATE SET`
    return [
        (table, name or table) for table, name in TABLE.findall(statement) if table not in given
    ]


def names_the_organization(statement: str, table: str, name: str) -> bool:
    if statement.startswith("INSERT") and f"INTO {table} (" in statement:
        return "org_id" in statement[statement.index("(") : statement.index(")")]
    if any(table == other and key in statement for other, key in BY_OTHER_KEYS):
        return True
    column = "org_id" if name == table else f"{name}.org_id"
    return re.search(rf"(?<![\w.]){re.escape(column)} = ", statement) is not None


def test_every_statement_names_the_organization_for_each_table(statements: set[str]) -> None:
    touched = set()
    for statement in statements:
        for table, name in tables(statement):
            touched.add(table)
            if table not in NO_TENANT:
                assert names_the_organization(statement, table, name), (table, statement)
    assert touched == set(tables_in_order())


def test_every_insert_names_its_columns(statements: set[str]) -> None:
    inserts = [statement for statement in statements if statement.startswith("INSERT")]

    assert len(inserts) > 15
    assert all(re.match(r"INSERT (OR \w+ )?INTO \w+ \(", statement) for statement in inserts)


def test_two_organizations_with_equal_reports_share_nothing(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "hwci.db")
    writer, other = Transaction(connection), UUID(int=2)
    draw = HistoryDraw(4)
    connection.execute("BEGIN")
    for _ in range(30):
        report = draw.next_report()
        for org_id in (ORG, other):
            writer.put_report(org_id, report, NOON)
    facts = writer.facts(other)
    for _ in range(30):
        writer.put_report(ORG, draw.next_report(), NOON)
    writer.rebuild(ORG)

    assert writer.facts(other) == facts
    connection.close()
