# SPDX-License-Identifier: Apache-2.0
"""Use cases. They know neither the web framework nor SQL."""
