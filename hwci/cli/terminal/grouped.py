# SPDX-License-Identifier: Apache-2.0
"""A command whose help shows its flags in groups: those of a `rich_help_panel` under its name. The
library draws them only with frames, which a pasted example does not survive.
"""

from typing import Any

from typer.core import TyperCommand


class Grouped(TyperCommand):
    """A command with many flags."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own signature
        """Write the arguments, then each group of flags; those without one come last."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        others: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is None:
                continue
            if param.param_type_name == "argument":
                groups["Arguments"].append(record)
            elif (panel := getattr(param, "rich_help_panel", None)) is not None:
                groups.setdefault(panel, []).append(record)
            else:
                others.append(record)
        for name, records in {**groups, "Options": others}.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)
