# SPDX-License-Identifier: Apache-2.0
"""The CI room: what a job left behind, as reports ready to send.

It reads result files and writes the wire's models. It sends nothing and knows no server; started
from a CI step, it stays light.
"""
