# SPDX-License-Identifier: Apache-2.0
"""Every limit of the contract, by name (spec, "Limits"). The models take them from here, so they
are in the OpenAPI document too.
"""

from datetime import timedelta

from hwci.contract.limits import AT_ONCE_MAX
from hwci.engine.patterns import LENGTH_MAX

NAME_MAX = 255
"""Characters of `repo_key`, `suite`, `workflow`, `branch`, `box_key`, `board`, `ticket`, a CI key's
name.
"""
CONCLUSION_MAX = 50
"""Characters of `conclusion`."""
TEST_ID_MAX = 512
"""Characters of the id of a test."""
MESSAGE_MAX = 2_000
"""Characters of the message of a failed test."""
SHA_MIN = 7
"""Digits of a commit's hash, at least."""
SHA_MAX = 64
"""Digits of a commit's hash, at most."""
SHA_START_MIN = 4
"""Digits of the beginning of a commit's hash in a search of runs."""
TESTS_MAX = 1_000
"""Tests of one report; more are sent in parts."""
COVERS_MAX = 1_000
"""Commits of a push that one run covers."""
COMMITS_MAX = 250
"""Commits in the changes of a run."""
FILES_MAX = 2_000
"""Changed files of one commit."""
SUBJECT_MAX = 1_000
"""Characters of the first line of a commit's message."""
PATTERNS_MAX = 200
"""Path patterns of one list."""
BISECTED_AT_ONCE_MAX = AT_ONCE_MAX
"""Runs of a bisection that are proposed together."""
PATTERN_MAX = LENGTH_MAX
"""Characters of a path pattern."""
URL_MAX = 2_000
"""Characters of `ci_url`, `log_url`, of a template of a link, and of the `issue` of a review."""
NOTE_MAX = 1_000
"""Characters of a note of a review, or of a box."""

INTEGER_MAX = 2**63 - 1
"""Integers fit 64 bits with a sign."""
ATTEMPTS_MAX = 1_000_000
"""Attempts of one test in a run. They are summed: those of nine thousand million results still fit
the whole numbers that JSON has in a browser (2^53).
"""
DURATION_MAX = 366 * 24 * 3_600
"""Seconds that a test took: a year."""
REQUEST_ID_MAX = 64
"""Characters of an `x-request-id` that a caller sends; a longer one is replaced."""

PAGE_LIMIT_DEFAULT = 20
"""Rows of a page of a list, unless `limit` says otherwise."""
PAGE_LIMIT_MAX = 100
"""Rows of a page of a list, at most."""
SEARCH_MAX = 200
"""Characters of a search in a table."""
DAYS_DEFAULT = 30
"""Days of a period of metrics, unless `days` says otherwise."""
PLAN_DAYS_DEFAULT = 90
"""The same of a plan."""
DAYS_MAX = 3_650
"""Days of a period, at most."""

EVIDENCE_MAX = 200
"""Commits of one list, files and runs of one commit, that the evidence of a failure shows."""
INCIDENT_MAX = 100
"""Tests, boxes and failures that an incident lists."""
INCIDENTS_FIRST = 5
"""Incidents that still fail which the metrics page shows until all are asked for."""
LOST_BOARDS_MAX = 1_000
"""Failures in runs that lost their board that one answer names."""
COMMIT_MAX = 100
"""Failures, runs and passes of a commit that an answer lists, of each."""
MESSAGES_MAX = 5
"""Different messages that a cause lists."""
UNSENT_MAX = 20
"""Runs whose unsent changes are sent together."""
REVIEWS_AT_ONCE_MAX = 200
"""Reviews that are made together."""

ISSUES_MAX = 100
"""Faults listed in one answer."""

RUN_REPORT_BYTES = 64 * 1024 * 1024
"""Body of a run report, plain or after inflation: the largest legal one with usual paths."""
SUITE_CONFIG_BYTES = 4 * 1024 * 1024
"""Body of a suite configuration, plain or after inflation."""
UNSENT_BYTES = 4 * 1024 * 1024
"""Body of what git has of changes that runs did not send."""
BODY_BYTES = 64 * 1024
"""Any other body."""

EMAIL_MIN = 3
"""Characters of an e-mail address, at least: `a@b`."""
EMAIL_MAX = 254
"""Characters of an e-mail address, at most."""
PASSWORD_MIN = 12
"""Characters of a new password, at least."""
PASSWORD_MAX = 1_024
"""Characters of a password, at most."""

ACCESS_TOKEN_LIFETIME = timedelta(minutes=15)
"""An access token opens the API for this time."""
REFRESH_TOKEN_LIFETIME = timedelta(days=7)
"""A sign-in ends when it was not renewed for this time."""
DEVICE_TOKEN_LIFETIME = timedelta(days=365)
"""An account knows a device for this time after its last sign-in."""

ORGANIZATIONS_MAX = 100
"""Organizations that a person owns, at most, to make another one."""

CI_KEY_PREFIX = "svc_"
"""A CI key or box key begins with it."""
READER_KEY_PREFIX = "rdr_"
"""A reader key begins with it."""
KEY_HEX_DIGITS = 64
"""Hexadecimal digits of a key after its prefix."""
KEY_PRODUCTS_MAX = 100
"""Products that one reader key is bound to."""

TRUSTS_MAX = 100
"""Repositories whose jobs an organization lets sign in."""
JOB_TOKEN_MAX = 16_384
"""Characters of the token of a CI job."""
JOB_TOKEN_AGE = timedelta(hours=24)
"""The token of a CI job is taken for this time after it was made, if it lives so long."""
JOB_KEY_LIFETIME = timedelta(minutes=15)
"""The key that such a token is exchanged for works for this time."""

TOKEN_MAX = 4_096
"""Characters of a secret that a caller sends back. Also enough for an access token in the wrong
place, so that it is refused as a credential and not as too long.
"""
DEVICE_TOKEN_MAX = 1_024
"""Characters of a device token."""
CODE_MAX = 2_048
"""Characters of a code that the command line exchanges for a sign-in."""
CODE_LIFETIME = timedelta(seconds=60)
"""Such a code is exchanged within this time."""
SSO_LIFETIME = timedelta(minutes=10)
"""A person signs in at the provider within this time."""
PORT_MAX = 65_535
"""The last port at which the command line waits for a sign-in from the browser."""
MACHINE_MAX = 63
"""Characters of the name of a machine whose command line waits for a sign-in."""
SET_UP_LIFETIME = timedelta(hours=24)
"""The set-up token of a new server works for this time."""
INVITE_LIFETIME = timedelta(days=7)
"""An invitation works for this time."""
RESET_LINK_LIFETIME = timedelta(hours=24)
"""A link that sets a new password works for this time."""
INSTALL_TOKEN_LIFETIME = timedelta(hours=24)
"""The install token of a box works for this time."""

BOX_ONLINE_FOR = timedelta(minutes=3)
"""A box that sent something within this time is online."""
RUN_LOST_AFTER = timedelta(minutes=10)
"""A live run without event or heartbeat for this time is lost."""
RUN_EVENTS_MAX = 1_000
"""Events of one request of a box."""
LIVE_TESTS_MAX = 10 * TESTS_MAX
"""Tests of one live run."""

KNOWN_FAILURES_MAX = 100
"""Rules for known failures of an organization."""
KNOWN_FOR_MAX = timedelta(days=365)
"""A failure is called known for this time from now on, at most."""

WEBHOOKS_MAX = 20
"""Webhooks of an organization."""
WEBHOOK_HOURS_MAX = 720
"""Hours after which a webhook is sent that a merge is unchecked, or a box silent, at most."""
WEBHOOK_EVENTS_OF = timedelta(days=90)
"""What began longer ago than this is sent to no webhook."""
DELIVERIES_KEPT = timedelta(days=180)
"""A delivery of a webhook is kept for this time, longer than anything that it tells of."""

EVENTS_KEPT = timedelta(hours=24)
"""A stream can be resumed from an event this old."""
LOST_RUNS_KEPT = timedelta(days=7)
"""A lost run is shown for this time after its last event or heartbeat."""
INVITES_KEPT = timedelta(days=30)
"""An invitation is kept for this time after it was used or expired."""

KEEP_REPORTS_DAYS_MIN = 90
"""Days that an organization keeps reports, at least: the longest period that pages offer."""
KEEP_TEXTS_DAYS_MIN = 1
"""Days that it keeps messages and log addresses, at least."""
KEEP_DAYS_MAX = 36_500
"""Days that can be set of each; without any, it is kept for ever."""
KEEP_GRACE = timedelta(days=1)
"""Nothing is deleted by a new number of days for this time."""

ORGANIZATION_GRACE = timedelta(days=7)
"""An owner undoes the deletion of an organization for this time; then all of it goes."""

STREAMS_PER_USER = 10
"""Streams that one person or reader key follows at a time."""
STREAMS_PER_SERVER = 200
"""Streams of one server at a time."""
EVENT_ID_DIGITS = 18
"""Digits of the id of an event, after which a stream goes on."""
STREAM_FRAME_BYTES = 4 * 1024
"""A frame that a reader of a stream sends over a WebSocket."""
RUN_EVENTS_BYTES = 8 * 1024 * 1024
"""Body of a request with events: the largest legal one."""
