# SPDX-License-Identifier: Apache-2.0
"""The command line: a command parses, makes one call and renders. It decides no figure."""
