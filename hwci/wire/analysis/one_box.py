# SPDX-License-Identifier: Apache-2.0
"""What can be asked of one box (contract, "Answers beside the rules")."""

from hwci.wire.base import Name
from hwci.wire.queries import BoxHealthQuery, BoxQuery


class OneBoxQuery(BoxHealthQuery, BoxQuery):
    """Query of one box over a period."""

    box_key: Name
