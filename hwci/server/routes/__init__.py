# SPDX-License-Identifier: Apache-2.0
"""The routes: `table.py` has all of them, `openapi.py` describes them. Most call a method of a
service; sign-ins, which need cookies and redirects, have handlers of their own here.
"""
