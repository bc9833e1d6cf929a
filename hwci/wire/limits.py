# SPDX-License-Identifier: Apache-2.0
"""Every limit of the contract, by name (spec, "Limits"). The models take them from here, so they
are in the OpenAPI document too.
"""

from datetime import timedelta

from hwci.engine.patterns import LENGTH_MAX

NAME_MAX = 255
"""Characters of `repo_key`, `suite`, `workflow`, `branch`, `box_key` and of a CI key's name."""
CONCLUSION_MAX = 50
"""Characters of `conclusion`."""
TEST_ID_MAX = 512
MESSAGE_MAX = 500
"""Characters of the message of a failed test."""
SHA_MIN = 7
SHA_MAX = 64
SHA_START_MIN = 4
"""Digits of the beginning of a commit's hash in a search of runs."""
TESTS_MAX = 1_000
"""Tests of one report; more are sent in parts."""
COVERS_MAX = 1_000
"""Commits of a push that one run covers."""
COMMITS_MAX = 250
FILES_MAX = 2_000
SUBJECT_MAX = 1_000
"""Characters of the first line of a commit's message."""
PATTERNS_MAX = 200
PATTERN_MAX = LENGTH_MAX
"""Characters of a path pattern."""
URL_MAX = 2_000
"""Characters of `ci_url`, of a template of a link, and of the `issue` of a review."""
NOTE_MAX = 1_000
"""Characters of a note of a review."""

INTEGER_MAX = 2**63 - 1
"""Integers fit 64 bits with a sign."""

PAGE_LIMIT_DEFAULT = 20
PAGE_LIMIT_MAX = 100
SEARCH_MAX = 200
"""Characters of a search in a table."""
DAYS_DEFAULT = 30
PLAN_DAYS_DEFAULT = 90
DAYS_MAX = 3_650

EVIDENCE_MAX = 200
"""Commits of one list, files and runs of one commit, that the evidence of a failure shows."""

ISSUES_MAX = 100
"""Faults listed in one answer."""

RUN_REPORT_BYTES = 64 * 1024 * 1024
"""Body of a run report, plain or after inflation: the largest legal one with usual paths."""
SUITE_CONFIG_BYTES = 4 * 1024 * 1024
BODY_BYTES = 64 * 1024
"""Any other body."""

EMAIL_MAX = 254
PASSWORD_MIN = 12
PASSWORD_MAX = 1_024

ACCESS_TOKEN_LIFETIME = timedelta(minutes=15)
REFRESH_TOKEN_LIFETIME = timedelta(days=7)
DEVICE_TOKEN_LIFETIME = timedelta(days=365)

CI_KEY_PREFIX = "svc_"
READER_KEY_PREFIX = "rdr_"
KEY_HEX_DIGITS = 64
KEY_PRODUCTS_MAX = 100
"""Products that one reader key is bound to."""

TOKEN_MAX = 4_096
"""Characters of a secret that a caller sends back. Also enough for an access token in the wrong
place, so that it is refused as a credential and not as too long.
"""
DEVICE_TOKEN_MAX = 1_024
CODE_MAX = 2_048
"""Characters of a code that the command line exchanges for a sign-in."""
INVITE_LIFETIME = timedelta(days=7)
RESET_LINK_LIFETIME = timedelta(hours=24)
INSTALL_TOKEN_LIFETIME = timedelta(hours=24)

BOX_ONLINE_FOR = timedelta(minutes=3)
"""A box that sent something within this time is online."""
RUN_LOST_AFTER = timedelta(minutes=10)
"""A live run without event or heartbeat for this time is lost."""
RUN_EVENTS_MAX = 1_000
"""Events of one request of a box."""
LIVE_TESTS_MAX = 10 * TESTS_MAX
"""Tests of one live run."""

EVENTS_KEPT = timedelta(hours=24)
"""A stream can be resumed from an event this old."""
LOST_RUNS_KEPT = timedelta(days=7)
"""A lost run is shown for this time after its last event or heartbeat."""
INVITES_KEPT = timedelta(days=30)
"""An invitation is kept for this time after it was used or expired."""

STREAMS_PER_USER = 10
STREAMS_PER_SERVER = 200
STREAM_FRAME_BYTES = 4 * 1024
"""A frame that a reader of a stream sends over a WebSocket."""
RUN_EVENTS_BYTES = 8 * 1024 * 1024
"""Body of a request with events: the largest legal one."""
