# SPDX-License-Identifier: Apache-2.0
"""Run reports as they were sent, and what is derived from them when one comes or goes."""
