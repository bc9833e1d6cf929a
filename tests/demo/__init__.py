# SPDX-License-Identifier: Apache-2.0
"""Claims about the story of the demo."""
