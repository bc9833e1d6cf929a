# SPDX-License-Identifier: Apache-2.0
"""`hwci products`: what is known of the products of an organization."""

from typing import TYPE_CHECKING, Any

from hwci import client
from hwci.cli.session.connection import Connection
from hwci.cli.session.listing import listing
from hwci.cli.terminal import tables
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.contract.runs.products import Product


def _layout(view: tables.View) -> "tables.Layout[Product]":
    column = tables.Column
    return tables.Layout(
        "products",
        "Products",
        [
            column("Product", lambda row: tables.product(row.repo_key, row.suite)),
            tables.time_column(
                "Last report", lambda row: row.last_report_at, view.now, none="none"
            ),
            column("Suite configuration", lambda row: "yes" if row.configured else "none"),
        ],
        "repoKey suite configured mergeTrigger lastReportAt",
        "No product yet: hwci report-run, or hwci suite-config apply",
    )


@listing(_layout, "products", "product", by_key=True)
def products(server: Connection, **wanted: Any) -> "Iterable[Product]":
    """List the products of an organization, by their last report: the names for --product.

    Below them stand the repositories of which a merge was announced without a product.

    For example:

      hwci products
    """
    org_id, most = server.org_id(), limits.PAGE_LIMIT_MAX
    return server.items(client.calls.list_products(org_id, limit=most, unassigned=True, **wanted))
