# SPDX-License-Identifier: Apache-2.0
"""The composition root: the only place where storage, services and routes meet."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from hwci.server.app.fetching import Fetching
from hwci.server.app.posting import Posting
from hwci.server.app.sweeping import sending, sweeping
from hwci.server.clock import Clock
from hwci.server.errors import LimiterError
from hwci.server.http.bodies.buffers import LargeBodies
from hwci.server.http.checks import serving
from hwci.server.http.connections.runner import AROUND, LEAVING
from hwci.server.http.figures import Figures
from hwci.server.http.headers import BASE_URL
from hwci.server.http.rate_limits import limit_requests
from hwci.server.http.responses import stamp_response
from hwci.server.routes.table import ROUTES
from hwci.server.security.passwords import Passwords
from hwci.server.security.rate_limiter import RateLimiter
from hwci.server.security.secret_key import signing_keys
from hwci.server.security.signing import Signer
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.services.registry import Services, Tools, make_services
from hwci.server.services.wheels import Wheels
from hwci.server.settings import Settings
from hwci.server.storage.location import Location
from hwci.server.storage.ports import Storage
from hwci.server.web.dist import add_wheels
from hwci.server.web.site import add_site

LOG = logging.getLogger("hwci.server")


def key_file(settings: Settings) -> Path | None:
    """Return the file of the keys that sign tokens; None if they are in this process only."""
    return settings.secret_key_file or Location(settings.database).key_file


def make_signer(settings: Settings, clock: Clock) -> Signer:
    """Return the signer of tokens. Raises `SettingsError`: the keys cannot be used."""
    keys = signing_keys(key_file(settings))
    return Signer(keys.present, clock, keys.former)


_OWN_LIMITS = {(endpoint.method, endpoint.path) for endpoint in ROUTES if endpoint.own_limit}


def create_app(
    storage: Storage, settings: Settings, clock: Clock, signer: Signer, wheels: Wheels
) -> web.Application:
    """Put a server's application together; `protocol.SpecRunner` runs it."""
    passwords, fetching, bodies = Passwords(), Fetching(), LargeBodies()
    posting = Posting(settings.webhook_networks)
    limiter = RateLimiter(clock, settings.valkey_url)
    tools = Tools(storage, clock, passwords, signer, fetching, posting, limiter, wheels)
    services = make_services(tools, settings)
    app = web.Application()
    app[BASE_URL] = settings.base_url or ""
    app[AROUND] = limit_requests(services.rate_limits, settings.trusted_proxies, _OWN_LIMITS)
    app[LEAVING] = services.health.leave
    app.on_response_prepare.append(stamp_response)
    _add_routes(app, services, bodies)
    add_wheels(app, wheels)
    add_site(app)

    if settings.prometheus:
        Figures().watch(app)

    async def close(_: web.Application) -> None:
        bodies.process.close()
        await asyncio.to_thread(passwords.close)
        await fetching.close()
        await posting.close()
        await limiter.close()

    async def close_streams(_: web.Application) -> None:
        services.streams.close()

    app.on_startup.append(_before_requests(limiter, services.metrics))
    app.cleanup_ctx.append(
        sweeping(
            storage.leads,
            services.live_runs,
            (services.retention, services.keeping),
            (services.keys.record_uses, services.quota.record),
            services.rate_limits.log_guesses,
            services.decisions,
        )
    )
    app.cleanup_ctx.append(
        sending(storage.leads, services.watching, services.noticing, services.sending)
    )
    app.on_shutdown.append(close_streams)
    app.on_cleanup.append(close)
    return app


def _add_routes(app: web.Application, services: Services, bodies: LargeBodies) -> None:
    for endpoint, handler in ROUTES.items():
        # The framework's own `{name}` takes no braces: a malformed id would look like no route.
        path = re.sub(r"{(\w+)}", r"{\1:[^/]+}", endpoint.path)
        serve = serving(endpoint, handler, services, bodies)
        if endpoint.method == "GET":  # HEAD is answered as GET, without the body
            app.router.add_get(path, serve)
        else:
            app.router.add_route(endpoint.method, path, serve)


def _before_requests(
    limiter: RateLimiter, metrics: Metrics
) -> Callable[[web.Application], Awaitable[None]]:
    """Return what an application does before it listens: it warms up, and only warns if limits
    cannot be counted, as Valkey may start later.
    """

    async def prepare(_: web.Application) -> None:
        try:
            await limiter.ready()
        except LimiterError as error:
            LOG.warning("%s: %s", error, error.__cause__)
        await metrics.warm_up()

    return prepare
