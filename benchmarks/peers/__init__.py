# SPDX-License-Identifier: Apache-2.0
"""Other ways to the figures of the metrics page: plain rows and a query engine."""
