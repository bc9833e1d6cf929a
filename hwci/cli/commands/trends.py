# SPDX-License-Identifier: Apache-2.0
"""`hwci trends`: a period beside the one before. The server computes the figures."""

from hwci import client
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options
from hwci.wire import limits


@connected(by_key=True)
def trends(
    server: Connection,
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    json: options.Json = False,
    output: options.Output = None,
) -> None:
    """Show how the figures of a period changed against the period before.

    The period before has as many days. It is compared with only if something was recorded before
    it began. How long failures took until they were seen and fixed: hwci metrics --table
    times-to-fix.

    For example:

      hwci trends --days 7

      hwci trends --product acme/firmware:sensor-fw --json
    """
    from hwci.cli.terminal import trend_tables

    form = options.form_of(json, output)
    repo_key, suite = server.scope_of(product, repo)
    end = options.time_of(as_of, "--as-of")
    call = client.calls.trends(
        server.org_id(), days=days, repo_key=repo_key, suite=suite, as_of=end
    )
    answer = server.send(call)
    trend_tables.show(answer, form, server.links)
