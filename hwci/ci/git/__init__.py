# SPDX-License-Identifier: Apache-2.0
"""What git knows of a checkout: its commits, its history, and the files that changed."""
