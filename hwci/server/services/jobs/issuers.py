# SPDX-License-Identifier: Apache-2.0
"""Who signs the tokens of CI jobs, and what their claims mean: a row for each CI system (contract,
"CI jobs without a secret").

This module decides which addresses are issuers, by the table and the operator's setting, never by
a request, and what a token says of its job. Signatures and times are `security/id_tokens.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from hwci.contract.ci_systems import SigningSystem
from hwci.server.errors import UnauthenticatedError
from hwci.wire.base import Name

Claims = Mapping[str, Any]
OwnIssuers = Sequence[tuple[SigningSystem, str]]
"""Issuers that the operator allows: self-hosted GitLab, GitHub Enterprise."""

_NAME = TypeAdapter(Name)
_PARTS = r"[^/:\s]+(/[^/:\s]+)"
_BRANCH, _PULL = "refs/heads/", "refs/pull/"


@dataclass(frozen=True, slots=True)
class Issuer:
    """What is known of the tokens of a CI system. `addresses`: its issuers on the internet;
    `default`: the one that is meant where none is named. `repository`: the claims that make its
    name; `form`: how that is written. `repository_id`, `owner_id`: those of ids that no other
    repository or owner ever gets, the latter None where each owner has an issuer. `branch`: that of
    a job, None for a tag or a pull request. `environment`: a claim, None if the system has none.
    `of_fork`: whether the code may be somebody else's. `follows`: a repository that was renamed is
    the same one.
    """

    addresses: re.Pattern[str]
    default: str | None
    repository: Sequence[str]
    form: tuple[str, re.Pattern[str]]
    repository_id: str
    owner_id: str | None
    branch: Callable[[Claims], str | None]
    environment: str | None
    of_fork: Callable[[Claims], bool]
    follows: bool = True


@dataclass(frozen=True, slots=True)
class JobIdentity:
    """What a token says of its job."""

    system: SigningSystem
    issuer: str
    repository: str
    repository_id: str
    owner_id: str | None
    branch: str | None
    environment: str | None

    def __str__(self) -> str:
        parts = {"branch": self.branch, "environment": self.environment}
        more = "".join(f", {name} {value}" for name, value in parts.items() if value)
        return f"{self.repository} (id {self.repository_id}){more}, signed by {self.issuer}"


def _branch_in(claim: str) -> Callable[[Claims], str | None]:
    def branch(claims: Claims) -> str | None:
        ref = str(claims.get(claim) or "")
        return ref.removeprefix(_BRANCH) if ref.startswith(_BRANCH) else None

    return branch


def _branch_of_gitlab(claims: Claims) -> str | None:
    # A pipeline of a merge request has the name of its source branch, which may be any.
    of_merge_request = claims.get("pipeline_source") == "merge_request_event"
    return None if of_merge_request else _branch_in("ref_path")(claims)


def _branch_of_buildkite(claims: Claims) -> str | None:
    return None if claims.get("build_tag") else claims.get("build_branch")


ISSUERS: Mapping[SigningSystem, Issuer] = {
    SigningSystem.GITHUB: Issuer(
        addresses=re.compile(
            r"https://token\.actions\.(githubusercontent\.com(/[a-z0-9-]+)?|[a-z0-9-]+\.ghe\.com)"
        ),
        default="https://token.actions.githubusercontent.com",
        repository=("repository",),
        form=("OWNER/NAME", re.compile(_PARTS)),
        repository_id="repository_id",
        owner_id="repository_owner_id",
        branch=_branch_in("ref"),
        environment="environment",
        # Its workflow is the base branch's, but may check out what anybody proposes. To a pull
        # request of a fork GitHub gives no token.
        of_fork=lambda claims: claims.get("event_name") == "pull_request_target",
    ),
    SigningSystem.GITLAB: Issuer(
        addresses=re.compile(r"https://gitlab\.com"),
        default="https://gitlab.com",
        repository=("project_path",),
        form=("GROUP/PROJECT", re.compile(f"{_PARTS}+")),
        repository_id="project_id",
        owner_id="namespace_id",
        branch=_branch_of_gitlab,
        environment="environment",
        # A pipeline of a fork's merge request in the parent: `project_id` is the fork's since 18.2.
        of_fork=lambda claims: (
            str(claims.get("job_project_id", claims.get("project_id")))
            != str(claims.get("project_id"))
        ),
    ),
    SigningSystem.BUILDKITE: Issuer(
        addresses=re.compile(r"https://agent\.buildkite\.com"),
        default="https://agent.buildkite.com",
        repository=("organization_slug", "pipeline_slug"),
        form=("ORGANIZATION/PIPELINE", re.compile(_PARTS)),
        repository_id="pipeline_id",
        owner_id="organization_id",
        branch=_branch_of_buildkite,
        environment=None,
        of_fork=lambda claims: ":" in str(claims.get("build_branch")),  # as `owner:branch`
    ),
    SigningSystem.CIRCLECI: Issuer(
        addresses=re.compile(
            r"https://oidc\.circleci\.com/org/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
        ),
        default=None,
        repository=("oidc.circleci.com/vcs-origin",),
        form=("HOST/OWNER/NAME", re.compile(f"{_PARTS}+")),
        repository_id="oidc.circleci.com/project-id",
        owner_id=None,
        branch=_branch_in("oidc.circleci.com/vcs-ref"),
        environment=None,
        of_fork=lambda claims: str(claims.get("oidc.circleci.com/vcs-ref")).startswith(_PULL),
        follows=False,  # of a fork's code the project is the parent's, and the origin the fork's
    ),
}


def system_of(issuer: str, own: OwnIssuers) -> SigningSystem | None:
    """Return the CI system that an issuer is of; None if it is none that may be asked."""
    public = ((system, row.addresses.fullmatch(issuer)) for system, row in ISSUERS.items())
    known = [system for system, address in own if address == issuer]
    return next(iter([*known, *(system for system, match in public if match)]), None)


def identity_of(system: SigningSystem, claims: Claims) -> JobIdentity:
    """Return what a token of a CI system says. Raises `UnauthenticatedError`: it lacks a claim, or
    its job may run the code of a fork.
    """
    row = ISSUERS[system]
    if row.of_fork(claims):
        raise UnauthenticatedError(
            "The job's token is that of a pull request of a fork, whose code may be anybody's"
        )
    return JobIdentity(
        system,
        issuer=claims["iss"],
        repository="/".join(_text(claims, claim) for claim in row.repository),
        repository_id=_text(claims, row.repository_id),
        owner_id=None if row.owner_id is None else _text(claims, row.owner_id),
        branch=row.branch(claims),
        environment=None if row.environment is None else claims.get(row.environment),
    )


def _text(claims: Claims, name: str) -> str:
    """Return a claim that a job must have: a text, or a number that stands for one."""
    value = claims.get(name)
    try:
        return _NAME.validate_python(str(value) if isinstance(value, int) else value, strict=True)
    except ValidationError as fault:
        raise UnauthenticatedError(f"The job's token lacks the claim {name}") from fault
