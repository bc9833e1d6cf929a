# SPDX-License-Identifier: Apache-2.0
"""The variables that commands read, for the reference page: their names, and what they mean to
people. Those of the server stand in its own table, from which it reads them.
"""

from dataclasses import dataclass

from hwci.ci.fields import FIELDS


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable. `secret`: it may be given as a file, by `name`_FILE."""

    name: str
    meaning: str
    secret: bool = False


VARIABLES: tuple[Variable, ...] = (
    Variable("HWCI_URL", "Address of the server."),
    Variable("HWCI_CI_KEY", "The key that CI reports with.", secret=True),
    Variable("HWCI_TOKEN", "An access token, in place of `hwci login`.", secret=True),
    Variable(
        "HWCI_READER_KEY",
        "The key that metrics, failures and runs are read with, without a sign-in.",
        secret=True,
    ),
    Variable(
        "HWCI_FORGE_TOKEN",
        "The token that `hwci comment` writes to the forge with, before that of the job.",
    ),
    Variable("HWCI_PROFILE", "Which kept sign-in to use."),
    Variable("HWCI_ORG", "Organization by id or name; of a job that signs in, by id."),
    Variable(
        "HWCI_ID_TOKEN",
        "The token of a job of GitLab, which signs in with it where there is no `HWCI_CI_KEY`.",
    ),
    *(Variable(field.variable, f"`{field.name}` of reports. {field.meaning}") for field in FIELDS),
    Variable(
        "HWCI_STATE_DIR", "Folder whose `spool` holds the bench store if HWCI_SPOOL_DIR is not set."
    ),
    Variable("HWCI_MESSAGES", "Report what the harness wrote of failed tests (true or false)."),
    Variable(
        "HWCI_ARTIFACTS",
        "Address of a file of the job's artifacts, with `{path}` for its path: what JUnit XML"
        " attaches to a test is then its log.",
    ),
    Variable("HWCI_STRICT", "Let reporting fail the build."),
    Variable("HWCI_DEADLINE", "Seconds after which what is not sent is left in the bench store."),
    Variable("HWCI_SPOOL_DIR", "Folder of the bench store [hwci/spool in the user's state]."),
    Variable(
        "HWCI_INVITE_TOKEN", "The invitation that `hwci register` registers with.", secret=True
    ),
    Variable(
        "HWCI_INSTALL_TOKEN",
        "The one-time token that `hwci box install` installs with.",
        secret=True,
    ),
    Variable("HWCI_PASSWORD_FILE", "File of the present password, for `hwci password change`."),
    Variable("HWCI_NEW_PASSWORD_FILE", "File of the new password, for `hwci password change`."),
    Variable("HWCI_BOX_FILE", "File of the key of a box, which `hwci box install` writes."),
    Variable("HWCI_BOX_KEY", "The key of a box, in place of that file.", secret=True),
)
