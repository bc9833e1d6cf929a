# SPDX-License-Identifier: Apache-2.0
"""The commands: each file parses the flags of a command or a family, makes one call and renders."""
