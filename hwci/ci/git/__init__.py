# SPDX-License-Identifier: Apache-2.0
"""What a checkout knows: its commits, its history, and the files that changed."""
