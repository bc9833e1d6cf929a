# SPDX-License-Identifier: Apache-2.0
"""A period by its days, against the one before, and how long things took in it."""
