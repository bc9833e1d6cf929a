# SPDX-License-Identifier: Apache-2.0
"""The command line: a command parses, makes one call and renders. It decides no figure.
What it cannot do, and what is called wrongly, is an `ExplainedError`, which the root shows.
"""
