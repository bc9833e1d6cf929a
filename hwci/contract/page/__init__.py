# SPDX-License-Identifier: Apache-2.0
"""The metrics page, and the figures beside it."""
