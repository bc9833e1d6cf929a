# SPDX-License-Identifier: Apache-2.0
"""Tokens of CI jobs: what they say, as the documentation of each CI system shows it, and how a job
of GitHub gets one.
"""

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from hwci.contract.ci_systems import SigningSystem
from tests.server.crooked import Crooked, Json, of_now
from tests.support.running import Hands, RunningServer

GITHUB, GITLAB = SigningSystem.GITHUB, SigningSystem.GITLAB
BUILDKITE, CIRCLECI = SigningSystem.BUILDKITE, SigningSystem.CIRCLECI
PROJECT = "0d5ae2b1-2a0f-4d3f-9a4d-9e1a3b7c8d9e"
CLAIMS: Mapping[SigningSystem, Json] = {
    GITHUB: {
        "sub": "repo:acme/firmware:ref:refs/heads/main",
        "repository": "acme/firmware",
        "repository_id": "74",
        "repository_owner": "acme",
        "repository_owner_id": "65",
        "ref": "refs/heads/main",
        "ref_type": "branch",
        "event_name": "push",
        "runner_environment": "self-hosted",
    },
    GITLAB: {
        "sub": "project_path:acme/firmware:ref_type:branch:ref:main",
        "namespace_id": "65",
        "namespace_path": "acme",
        "project_id": "74",
        "project_path": "acme/firmware",
        "job_project_id": "74",
        "pipeline_source": "push",
        "ref": "main",
        "ref_type": "branch",
        "ref_path": "refs/heads/main",
    },
    BUILDKITE: {
        "sub": "organization:acme:pipeline:firmware:ref:refs/heads/main:commit:a1:step:hil",
        "organization_slug": "acme",
        "organization_id": "65",
        "pipeline_slug": "firmware",
        "pipeline_id": "74",
        "build_branch": "main",
        "build_tag": None,
    },
    CIRCLECI: {
        "sub": f"org/65/project/{PROJECT}/user/1/vcs-origin/github.com/acme/firmware/vcs-ref/x",
        "oidc.circleci.com/project-id": PROJECT,
        "oidc.circleci.com/vcs-origin": "github.com/acme/firmware",
        "oidc.circleci.com/vcs-ref": "refs/heads/main",
        "oidc.circleci.com/ssh-rerun": False,
    },
}
NAMES = dict.fromkeys(SigningSystem, "acme/firmware") | {CIRCLECI: "github.com/acme/firmware"}


def minted(server: RunningServer, system: SigningSystem, issuer: Crooked, **bends: Any) -> str:
    """Return the token of a job, for the server."""
    issuer.straighten()
    of_now(issuer, Hands())
    claims = {**issuer.claims, "iss": issuer.url, "aud": server.url, "jti": str(uuid4())}
    return issuer.signed({**claims, **CLAIMS[system], **bends})


class Runner:
    """Where GitHub's runner asks for the tokens of its job."""

    def __init__(self, server: RunningServer, issuer: Crooked) -> None:
        self.asked: list[tuple[str, str]] = []
        runner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                audience = parse_qs(urlsplit(self.path).query)["audience"][0]
                runner.asked.append((audience, self.headers["Authorization"]))
                token = minted(server, GITHUB, issuer, aud=audience)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps({"value": token}).encode())

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.http.serve_forever)
        self.thread.start()

    @property
    def variables(self) -> dict[str, str]:
        return {
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"http://127.0.0.1:{self.http.server_port}/t?v=2",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of the runner",
        }

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
