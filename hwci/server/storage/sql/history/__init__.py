# SPDX-License-Identifier: Apache-2.0
"""Answers to the engine's questions (`hwci/engine/history.py`), one file for each kind."""
