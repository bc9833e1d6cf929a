# SPDX-License-Identifier: Apache-2.0
"""What a person sees: tables, the metrics page, errors, and the flags that commands share."""
