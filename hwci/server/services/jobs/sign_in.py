# SPDX-License-Identifier: Apache-2.0
"""The exchange of a job's token for a key (contract, "CI jobs without a secret").

This module decides in which order a token is looked at, and what a refused job reads. Nobody is
asked about a token whose issuer no organization of this server trusts; and whether an organization
is there, trusts the repository or only another branch of it, is one answer.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, ValidationError

from hwci.server.clock import Clock
from hwci.server.errors import OverloadedError, ProviderError, UnauthenticatedError
from hwci.server.security.api_keys import key_digest, new_api_key
from hwci.server.security.id_tokens import Key, UnknownKeyError, issuer_of_job, read_job_token
from hwci.server.security.tokens import token_digest
from hwci.server.services import Service
from hwci.server.services.access import require_working
from hwci.server.services.jobs.issuers import identity_of, system_of
from hwci.server.services.jobs.trusts import fits, used
from hwci.server.services.published_keys import Fetch, Outgoing, PublishedKeys
from hwci.server.settings import Settings
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import JobKey
from hwci.wire import job_keys as wire
from hwci.wire import limits

LOG = logging.getLogger("hwci.server")

_ISSUERS_KEPT = 100
_NO_ADDRESS = (
    "Jobs cannot sign in to this server, which does not know its own address, the audience of their"
    " tokens; the operator sets HWCI_BASE_URL"
)
_NOT_TRUSTED = "Nobody on this server trusts the issuer {!r} of the job's token"
_NOT_SIGNED = "The job's token is not signed by a key that its issuer {} publishes"
_AWAY = "The keys of {} cannot be had now, to check the job's token; try again in a minute"
_NO_TRUST = (
    "No trust of this organization fits the job: {}. An owner or admin compares it with"
    " `hwci trusts list`, or makes one with `hwci trusts create`"
)
_USED = "The job's token was used before; a token signs in once, so ask the CI for another one"


class _Discovery(BaseModel):
    """What is read of an issuer's description of itself."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)

    issuer: str
    jwks_uri: str


class JobSignIn(Service):
    """Signs CI jobs in."""

    def __init__(self, storage: Storage, clock: Clock, settings: Settings, fetch: Fetch) -> None:
        super().__init__(storage, clock)
        self._audience = settings.base_url
        self._own_issuers = settings.ci_issuers
        self._fetch = fetch
        self._keys: dict[str, PublishedKeys] = {}

    async def exchange(self, body: wire.JobToken) -> wire.JobKeyAnswer:
        """Exchange the token of a job for a key.

        Raises:
            UnauthenticatedError: it is refused.
            OverloadedError: its issuer cannot be asked now.
        """
        if self._audience is None:
            raise UnauthenticatedError(_NO_ADDRESS)
        issuer = issuer_of_job(body.token)
        system = system_of(issuer, self._own_issuers)
        if system is None or not await self._storage.look_up(lambda r: r.is_trusted(issuer)):
            raise UnauthenticatedError(_NOT_TRUSTED.format(issuer))
        claims = await self._claims(body.token, issuer, self._audience)
        job, now = identity_of(system, claims), self._clock()
        value = new_api_key()
        digest = key_digest(value)
        assert digest is not None
        expires_at = now + limits.JOB_KEY_LIFETIME
        token = token_digest(f"{issuer} {claims.get('jti') or body.token}")

        def work(writer: Writer) -> None:
            trusts = [trust for trust in writer.trusts_in(body.org_id, issuer) if fits(trust, job)]
            if not trusts:
                raise UnauthenticatedError(_NO_TRUST.format(job))
            require_working(writer.organization(body.org_id))
            writer.put_trust(used(trusts[0], job, now))
            key = JobKey(
                *(uuid4(), body.org_id, trusts[0].id, digest, token, now, expires_at),
                kept_until=now + limits.JOB_TOKEN_AGE + limits.JOB_KEY_LIFETIME,
            )
            if not writer.add_job_key(key):
                raise UnauthenticatedError(_USED)

        await self._storage.write(work, organization=body.org_id)
        return wire.JobKeyAnswer(api_key=value, expires_at=expires_at)

    async def _claims(self, token: str, issuer: str, audience: str) -> Mapping[str, Any]:
        """Return the claims of a token that its issuer signed for us."""
        if issuer not in self._keys:
            if len(self._keys) >= _ISSUERS_KEPT:
                del self._keys[next(iter(self._keys))]
            self._keys[issuer] = PublishedKeys(self._fetch, self._clock)

        def read(keys: Sequence[Key]) -> Mapping[str, Any]:
            return read_job_token(token, keys, issuer, audience, self._clock())

        async def address() -> str:
            return await self._address_of_keys(issuer)

        try:
            return await self._keys[issuer].read(address, read)
        except UnknownKeyError as fault:
            raise UnauthenticatedError(_NOT_SIGNED.format(issuer)) from fault
        except ProviderError as fault:
            LOG.warning("the keys of %s cannot be had: %s", issuer, fault)
            raise OverloadedError(_AWAY.format(issuer)) from fault

    async def _address_of_keys(self, issuer: str) -> str:
        """Return where an issuer publishes its keys: at its own host, or nobody's."""
        url = f"{issuer}/.well-known/openid-configuration"
        try:
            described = _Discovery.model_validate_json(await self._fetch(Outgoing(url)))
        except ValidationError as fault:
            raise ProviderError(f"{url} is not usable") from fault
        there, here = urlsplit(described.jwks_uri), urlsplit(issuer)
        if described.issuer != issuer or there[:2] != here[:2]:
            raise ProviderError(f"{url} names another issuer, or keys at another host")
        return described.jwks_uri
