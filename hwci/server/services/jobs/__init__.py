# SPDX-License-Identifier: Apache-2.0
"""CI jobs that sign in without a secret: who may, and what their tokens say."""
