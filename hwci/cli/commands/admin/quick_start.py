# SPDX-License-Identifier: Apache-2.0
"""`hwci admin quick-start`: all that a first report needs, beside a server that has no user yet. A
shell evaluates what it prints, and has the key then. Each step is that of a command of its own.
"""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from uuid import UUID

import typer

from hwci.cli.commands.admin.accounts import NOT_CREATED, checked
from hwci.cli.commands.admin.database import ask, operator_errors
from hwci.cli.commands.init import OWN_FOLDER, make_own_folder, write_project
from hwci.cli.commands.serve import Database
from hwci.cli.session.prompts import email_of, new_password, secret_line, until_right
from hwci.cli.session.reporter import command_context
from hwci.cli.session.settings import DEFAULT_URL, RETRIES, Flags, Settings, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.again import forget
from hwci.cli.terminal.render import note, write
from hwci.client.explained import ExitCode, command_error, explained
from hwci.contract.vocabulary import Role
from hwci.program import way_to_hwci

if TYPE_CHECKING:
    from datetime import datetime

    from hwci.ci.new_project import Guess
    from hwci.ci.reporting import CommandContext
    from hwci.client import Client
    from hwci.wire.accounts import SignedIn

NOT_BEGUN = "Nothing was begun"
NO_SIGN_IN = "The sign-in failed"
WAYS = "--password-stdin"
BOX = "bench-1"
RESULTS = f"{OWN_FOLDER}/out.xml"


class _Person(NamedTuple):
    """Who begins, the name of the organization that is theirs if they have none yet, and whether
    their password comes from stdin.
    """

    email: str
    organization: str
    from_stdin: bool


def quick_start(
    *,
    email: Annotated[
        str | None, typer.Option(help="E-mail to sign in with [that of git, if you agree].")
    ] = None,
    organization: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of your organization [owner of the repository]."),
    ] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin.")
    ] = False,
    url: options.Url = None,
    database: Database = None,
) -> None:
    """Make all that a first report needs: user, organization, key, hwci.toml.

    Call it in the repository of the firmware, beside the server; again for another shell or
    repository. It also turns CI Metrics on, signs in, and sends hwci.toml. A shell evaluates what
    it prints, as in the line that a new server shows, and has address and key then.

    For example:

      eval "$(hwci admin quick-start --database ~/hwci-data/hwci.db)"
    """
    from hwci.ci.new_project import guess
    from hwci.ci.reporting import PROJECT_FILE, read_configurations, repository_of
    from hwci.client import Client, calls

    # The server is the one beside the database: whoever signed in elsewhere before does not matter.
    address = url or os.environ.get("HWCI_URL") or DEFAULT_URL
    context, settings = command_context(), resolve(Flags(address))
    repository = repository_of(context.folder(), NOT_BEGUN)
    root = repository.root
    project = guess(repository.files, root.name, repository.remote)
    if (root / PROJECT_FILE).exists():
        read_configurations([root / PROJECT_FILE], "Correct it; nothing was made", context)
    settings.session.file  # noqa: B018 - fails where no sign-in can be kept
    with explained(NOT_BEGUN), Client(settings.url, retries=RETRIES) as client:
        client.send(calls.health())
    note(f"For {project.suite} of {project.owner}, in {root}.")
    email = email or (repository.email if password_stdin else None)
    person = _Person(
        email_of(email, usual=repository.email), organization or project.owner, password_stdin
    )
    answer = _signed_in(person, settings, database)
    key = _key(settings, answer, _organization(person, answer, settings, database))
    write(f"export HWCI_URL={shlex.quote(settings.url)} HWCI_CI_KEY={shlex.quote(key)}")
    forget("url")
    for line in way_to_hwci():
        write(line)
    _configure(root, project, context, settings.url, key)
    _note_next(project, settings.url)


def _signed_in(person: _Person, settings: Settings, database: str | None) -> "SignedIn":
    """Sign in, and keep that. Who has no account yet gets one."""
    from hwci.client import Client

    with operator_errors(NOT_BEGUN, "Restart the server: it has to run this version"):
        from hwci.server.app import FindUser

        user_id = ask(database, checked(FindUser, NOT_BEGUN, email=person.email)).user_id
    with explained(NO_SIGN_IN), Client(settings.url, retries=RETRIES) as client:
        if user_id is None:
            password = new_password(WAYS, from_stdin=person.from_stdin)
            _create(person, password, database)
            began, answer = _sign_in(client, person, password)
        else:
            began, answer = until_right(lambda: _sign_in(client, person))
    settings.session.keep(answer, began.timestamp(), use=True)
    note(f"You are signed in at {settings.url} as {person.email}.")
    return answer


def _sign_in(
    client: "Client", person: _Person, password: str | None = None
) -> "tuple[datetime, SignedIn]":
    """Return when the sign-in began, and the sign-in; `password`: the new one, else it is asked
    for.
    """
    from hwci.client import calls
    from hwci.client.errors import UnauthorizedError

    if password is None:
        password = secret_line("password", WAYS, from_stdin=person.from_stdin)
    began = options.now()
    try:
        return began, client.send(calls.login(person.email, password))
    except UnauthorizedError as fault:
        raise command_error(
            NO_SIGN_IN,
            f"the account of {person.email} does not take this password",
            f"Try again, or set a new one: hwci admin reset-password --email {person.email}",
            ExitCode.SIGN_IN,
        ) from fault


def _create(person: _Person, password: str, database: str | None) -> None:
    """Create the user and the organization."""
    with operator_errors(NOT_CREATED, "Use another --email"):
        from hwci.server.app import CreateUser

        fields = {"email": person.email, "organization": person.organization}
        ask(database, checked(CreateUser, NOT_CREATED, password=password, **fields))


def _organization(
    person: _Person, answer: "SignedIn", settings: Settings, database: str | None
) -> UUID:
    """Return the organization that reports, in which CI Metrics is on then."""
    from hwci.client import Client, calls

    with (
        explained("No organization was found"),
        Client(settings.url, token=answer.access_token, retries=RETRIES) as client,
    ):
        own = [
            organization
            for organization in client.items(calls.list_orgs())
            if organization.role in {Role.OWNER, Role.ADMIN}
        ]
    if not own:
        raise command_error(
            "No CI key was made",
            f"{person.email} is owner or admin of no organization",
            "Ask an owner for a key (hwci keys create NAME), or name another --email",
        )
    named = [organization for organization in own if organization.name == person.organization]
    org = (named or own)[0]
    by_hand = f"Switch it on: hwci admin ci-metrics enable {org.id}"
    with operator_errors("CI Metrics was not switched on", by_hand):
        from hwci.server.app import SetCiMetrics

        ask(database, SetCiMetrics(org_id=org.id, enabled=True))
    note(f"The organization is {org.name}, in which CI Metrics is on.")
    return org.id


def _key(settings: Settings, answer: "SignedIn", org_id: UUID) -> str:
    """Return a new CI key."""
    from hwci.client import Client, calls

    with (
        explained("No CI key was made"),
        Client(settings.url, token=answer.access_token, retries=RETRIES) as client,
    ):
        made = client.send(calls.create_ci_key(org_id, BOX))
    note(f"CI key {made.id} is made for this shell: HWCI_CI_KEY.")
    return made.api_key


def _configure(root: Path, project: "Guess", context: "CommandContext", url: str, key: str) -> None:
    """Write the project file if there is none, and send which files are the firmware."""
    from hwci.ci.reporting import PROJECT_FILE, files_or_found, read_configurations
    from hwci.client import Client, calls

    if (root / PROJECT_FILE).exists():
        note(f"{root / PROJECT_FILE} stays as it is.")
    else:
        write_project(root, project.text)
        note(f"{root / PROJECT_FILE} is written: read it, and correct what was guessed wrong.")
    make_own_folder(root)
    fix = f"Correct {PROJECT_FILE}, then: hwci suite-config apply"
    with (
        explained("The configuration was not sent"),
        Client(url, ci_key=key, retries=RETRIES) as client,
    ):
        for config in read_configurations(files_or_found(None, context), fix, context):
            client.send(calls.put_suite_config(config))
            note(f"Its firmware and harness files are sent for {config.repo_key}:{config.suite}.")


def _note_next(project: "Guess", url: str) -> None:
    note("Next, with what runs your tests, and the file of results that it writes:")
    folder = next((f" {path.removesuffix('/**')}" for path in project.harness), "")
    tests = f"--junit {RESULTS} -- pytest{folder} --junit-xml={RESULTS}"
    if project.twister:
        tests = "--junit twister-out/twister.json -- west twister --device-testing …"
    note(f"  hwci exec --box {BOX} {tests}")
    note(f"Then: hwci metrics, or {url} in a browser.")
    note("For CI, with a key of its own: hwci keys create NAME; then hwci init --ci github")
