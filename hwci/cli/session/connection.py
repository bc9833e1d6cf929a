# SPDX-License-Identifier: Apache-2.0
"""The way from a command to the server: a client with the right credential, and the organization
that is meant; and the flags that the commands of a signed-in person share.
"""

import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from hwci.cli.session.settings import RETRIES, Flags, Settings, is_usual, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.again import forget
from hwci.cli.terminal.grids import ID_DIGITS
from hwci.cli.terminal.render import takes_links
from hwci.cli.terminal.tables import product
from hwci.client.explained import (
    ErrorMessage,
    ExplainedError,
    command_error,
    explain,
    explained,
    wrong_usage,
)
from hwci.wire import limits
from hwci.wire.nearest import hint

if TYPE_CHECKING:
    from hwci.client import Call, Client
    from hwci.client._protocol import Token
    from hwci.client.errors import ApiError
    from hwci.contract.runs.products import Product
    from hwci.contract.shape import ListPage
    from hwci.wire.accounts import OwnOrganization, OwnReaderKey


T = TypeVar("T")

TESTS_COMPARED = 500
"""So many tests are compared with an id that no report names."""
_NOT_BY_A_KEY = "A reader key is not enough for this command"
_READ_BY_A_KEY = "it reads metrics, failures and runs, but no boxes, members or keys"
_READER_KEY_FIX = (
    "Check HWCI_READER_KEY: a reader key begins with rdr_; `hwci keys create --reader NAME` makes"
    " one, `hwci keys list` shows those that work"
)
_TOKEN_FIX = (
    "HWCI_TOKEN has expired or is wrong: set a new one, or unset it and sign in: hwci login"
)


@dataclass(frozen=True)
class Connection:
    """The client of a signed-in person, or of a reader key. `by_key`: what the reader key of the
    environment reads is read with it; else it is not used.
    """

    client: "Client"
    settings: Settings
    by_key: bool = False

    def send(self, call: "Call[T]") -> T:
        """Perform a call and return its answer."""
        return self.client.send(call)

    def items(self, call: "Call[ListPage[T]]") -> Iterator[T]:
        """Return the items of all pages of a list."""
        return self.client.items(call)

    @cached_property
    def reader_key(self) -> "OwnReaderKey | None":
        """What the reader key in use reads; None without one."""
        from hwci.client import calls

        if not self.by_key or self.settings.reader_key() is None:
            return None
        return self.client.send(calls.own_reader_key())

    def org_id(self, named: str | None = None) -> UUID:
        """Find the organization that is meant: by id, by name, that of the reader key in use, or
        the only one. `named`: instead of that of the settings.
        """
        from hwci.client import calls
        from hwci.client.errors import SessionEndedError

        wanted = named or self.settings.org
        if wanted is not None and (org_id := uuid_in(wanted)) is not None:
            return org_id
        key = self.reader_key
        if key is not None and wanted in {None, key.organization.name}:
            return key.organization.id
        try:
            orgs = list(self.items(calls.list_orgs(limit=limits.PAGE_LIMIT_MAX)))
            return _choose(wanted, orgs)
        except SessionEndedError as fault:
            if key is None:
                raise
            raise wrong_usage(
                f"The reader key does not read an organization named {wanted!r}",
                f"it reads {key.organization.name} ({key.organization.id})",
                "Correct --org or HWCI_ORG, or leave it out",
            ) from fault

    def readable(
        self, listed: "Callable[..., Call[ListPage[T]]]", most: int | None = None
    ) -> Iterator[T]:
        """Return the items of a list of all that may be read, the first `most` of them. A reader
        key that is bound to products has to name them: it lists so many of each.
        """
        from hwci.client.errors import NotFoundError

        if self.reader_key is None or not self.reader_key.products:
            yield from islice(self.items(listed()), most)
            return
        for known in self.reader_key.products:
            with suppress(NotFoundError):  # nothing was reported of it yet
                yield from islice(
                    self.items(listed(repo_key=known.repo_key, suite=known.suite)), most
                )

    def scope_of(self, product: str | None, repo: str | None) -> tuple[str | None, str | None]:
        """Return repository and suite of a product. A suite alone, as lists show it, is enough
        where one repository has it.
        """
        if product and ":" not in product:
            from hwci.client import calls

            listed = self.items(calls.list_products(self.org_id(), limit=limits.PAGE_LIMIT_MAX))
            known = [
                known_product
                for known_product in listed
                if known_product.suite and repo in {None, known_product.repo_key}
            ]
            named = [known_product for known_product in known if known_product.suite == product]
            if len(named) == 1:
                return named[0].repo_key, named[0].suite
            raise _unclear(product, named or known)
        return options.scope_of(product, repo)

    def product(self, named: str | None, test: str) -> tuple[str, str]:
        """Return repository and suite of the product that is meant: the one that is named, the only
        one, or the only one whose reports have the test.
        """
        from hwci.client import calls

        repo_key, suite = self.scope_of(named, None)
        if repo_key is not None and suite is not None:
            return repo_key, suite
        org_id = self.org_id()
        known = {
            (listed.repo_key, listed.suite)
            for listed in self.items(calls.list_products(org_id, limit=limits.PAGE_LIMIT_MAX))
            if listed.suite is not None
        }
        if len(known) > 1:
            tests = self.items(calls.list_tests(org_id, search=test))
            known = {
                (named_test.repo_key, named_test.suite)
                for named_test in tests
                if named_test.test_id == test
            }
            if not known:
                raise self._no_test(org_id, test)
        if len(known) == 1:
            return known.pop()
        names = ", ".join(sorted(product(*key) for key in known))
        raise wrong_usage(
            "The test was not looked for",
            f"a test belongs to a product, and several are known: {names}"
            if known
            else "a test belongs to a product, and none is known yet",
            "Use --product REPO:SUITE (hwci products lists them)",
        )

    def _no_test(self, org_id: UUID, test: str) -> ExplainedError:
        near = self.near_test(org_id, test)
        return wrong_usage(
            "The test was not looked for",
            "; ".join(filter(None, (f"no report names the test {test!r}", near))),
            "Write its whole id (hwci tests list shows them)",
        )

    def near_test(self, org_id: UUID, test: str, **scope: Any) -> str:
        """Return which known test may be meant. `scope`: repository and suite to look in."""
        from hwci.client import calls

        listed = self.items(calls.list_tests(org_id, limit=limits.PAGE_LIMIT_MAX, **scope))
        return hint(test, (named_test.test_id for named_test in islice(listed, TESTS_COMPARED)))

    def links(self, answer: object) -> Mapping[str, str]:
        """Return where the words of an answer lead, if stdout is a terminal that may show links."""
        from hwci.cli.terminal.links import addresses
        from hwci.client import calls
        from hwci.client.errors import HwciError

        if not takes_links():
            return {}
        try:
            known = list(self.items(calls.list_products(self.org_id())))
        except HwciError:  # it answered before; links are not worth an error
            known = []
        return addresses(
            answer,
            {
                known_product.repo_key: known_product.links
                for known_product in known
                if known_product.links
            },
        )


def uuid_in(text: str) -> UUID | None:
    """Return the id that the text is, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _unclear(suite: str, known: "Sequence[Product]") -> ExplainedError:
    """Return the error of a suite that stands alone, and is not that of one product. `known`: those
    that have it, else those that may be meant.
    """
    names = [
        product(known_product.repo_key, known_product.suite)
        for known_product in known
        if known_product.suite == suite
    ]
    if names:
        cause = f"several have the suite {suite!r}: {', '.join(sorted(names))}"
    else:
        near = hint(suite, sorted({str(known_product.suite) for known_product in known}))
        cause = "; ".join(filter(None, (f"none has the suite {suite!r}", near)))
    fix = "Write it whole (hwci products lists them); --repo-key for all of a repository"
    return wrong_usage("The product is not understood", cause, fix)


def _choose(wanted: str | None, mine: "Sequence[OwnOrganization]") -> UUID:
    fitting = [org for org in mine if wanted in {None, org.name}]
    if not fitting and wanted is not None and len(wanted) >= ID_DIGITS:
        fitting = [org for org in mine if str(org.id).startswith(wanted.lower())]
    if len(fitting) == 1:
        return fitting[0].id
    if not mine:
        raise command_error(
            "You belong to no organization",
            "the command needs one",
            "Create one: hwci orgs create NAME; or see who invites you: hwci invitations list",
        )
    raise wrong_usage(
        "It is not clear which organization is meant"
        if fitting or wanted is None
        else f"You belong to no organization named {wanted!r}",
        "yours: " + ", ".join(f"{org.name} ({org.id})" for org in mine),
        "Name one of them: --org ID (or HWCI_ORG)",
    )


@contextmanager
def signed_in(flags: Flags, *, by_key: bool) -> Iterator[Connection]:
    """Yield a connection with the token of `HWCI_TOKEN` or of the profile. `by_key`: what
    `HWCI_READER_KEY` may read is read with it, and in its organization.
    """
    from hwci.client.errors import ForbiddenError, SessionEndedError, UnauthorizedError

    settings = resolve(flags)
    if flags.url and is_usual(settings, flags.profile):
        forget("url")
    with explained(), _client(settings, by_key=by_key) as client, named_values():
        connection = Connection(client, settings, by_key)
        try:
            yield connection
        except (ForbiddenError, UnauthorizedError) as fault:
            if (message := refusal(connection, fault)) is None:
                raise
            raise ExplainedError(message) from fault
        except SessionEndedError as fault:
            if settings.session.kept() is not None:
                raise
            there = (
                "" if is_usual(settings, flags.profile) else f" --url {shlex.quote(settings.url)}"
            )
            key = "; a CI job sets HWCI_READER_KEY" if by_key else ""
            fix = f"Sign in: hwci login{there}, or set HWCI_TOKEN{key}"
            message = replace(explain(fault), fix=fix)
            if settings.reader_key() is not None:
                message = replace(message, what=_NOT_BY_A_KEY, cause=_READ_BY_A_KEY)
            raise ExplainedError(message) from fault


def refusal(connection: Connection, fault: "ApiError") -> ErrorMessage | None:
    """Return what a refusal means by the credential that was used; None: no more than it states."""
    from hwci.client.errors import UnauthorizedError

    message, settings = explain(fault), connection.settings
    if isinstance(fault, UnauthorizedError):
        if settings.reader_key() is not None and "X-API-Key" in fault.message:
            return replace(message, fix=_READER_KEY_FIX)
        return replace(message, fix=_TOKEN_FIX) if settings.token() is not None else None
    key = connection.reader_key
    if key is None or not fault.message.startswith("This reader key"):
        return None
    names = ", ".join(product(allowed.repo_key, allowed.suite) for allowed in key.products)
    fix = f"Name one that it reads ({names}): --product REPO:SUITE; or one of its runs to watch"
    cause = re.sub(r"; name one of them with .*?\)", "", message.cause)  # the API's fields
    return replace(message, cause=cause, fix=fix)


@contextmanager
def named_values() -> Iterator[None]:
    """Name a value that a call of the block does not take as the command names it."""
    from hwci.client.errors import InvalidCallError

    try:
        yield
    except InvalidCallError as fault:
        sentences = [f"{_named(issue.path)}: {_in_flags(issue.message)}" for issue in fault.issues]
        raise wrong_usage(
            "A value is not understood", "; ".join(sentences), "Correct it"
        ) from fault


_FLAGS = {
    "suite": "product",
    "products": "product",
    "box_key": "box",
    "hello_ok": "hello",
    "test_id": "test",
    "testId": "test",
    "start": "from",
    "end": "to",
}
"""Parameters of the API that are flags of another name."""


_BODY_FLAGS = {"issue", "note", "products"}
"""Fields of a body that are flags, as all parameters are."""


def _flag_of(parameter: str) -> str:
    return f"--{_FLAGS.get(parameter, parameter).replace('_', '-')}"


def _named(path: "Sequence[str | int]") -> str:
    """Return the name of a value that a call does not take: a flag, or what an argument is."""
    place, name = str(path[0]), str(path[min(1, len(path) - 1)])
    return _flag_of(name) if place == "query" or name in _BODY_FLAGS else name.replace("_", " ")


def _in_flags(message: str) -> str:
    return re.sub(r"`(\w+)`", lambda named: _flag_of(named[1]), message)


def _client(settings: Settings, *, by_key: bool) -> "Client":
    from hwci.client import Client

    reader_key = settings.reader_key() if by_key else None
    if reader_key is not None:
        settings.url_for_key("HWCI_READER_KEY is not used")
    token: Token | None = settings.token()
    if token is not None:
        settings.url_for_key("HWCI_TOKEN is not used")
    else:
        token = settings.session
    return Client(settings.url, token=token, reader_key=reader_key, retries=RETRIES)


# Commands of a signed-in person: their shared flags, and the connection that they get


Command = Callable[..., None]


def connected(*, org: bool = True, by_key: bool = False) -> Callable[[Command], Command]:
    """Make a command of a function whose first argument is the connection: the flags that decide it
    are added, `--org` if wanted, `--url` and `--profile`. `by_key`: it only reads what a reader key
    may read. Any other acts for a person, and never in the organization of a key.
    """
    flags = {"org": options.Org, "url": options.Url, "profile": options.Profile}

    def decorate(function: Command) -> Command:
        def command(**arguments: Any) -> None:
            named = {name: arguments.pop(name) for name in flags if name in arguments}
            with signed_in(Flags(**named), by_key=by_key) as connection:
                function(connection, **arguments)

        own = list(inspect.signature(function).parameters.values())[1:]
        added = [options.flag(name, kind) for name, kind in flags.items() if org or name != "org"]
        return options.described(command, function, [*own, *added])

    return decorate
