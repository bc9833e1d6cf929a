# SPDX-License-Identifier: Apache-2.0
"""The story of `hwci demo`: an invented firmware team, and what its CI would have sent.

This room decides what happened and which bodies reported it. It sends nothing, and it computes no
metric: what the page shows is found by the server in these bodies, as in anyone's.
"""
