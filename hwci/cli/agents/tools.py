# SPDX-License-Identifier: Apache-2.0
"""The questions that an agent may ask, each a tool: it reads the API with the rights of the key or
sign-in of the command, and writes nothing.

What an agent reads of each answer is decided in `shortened.py`, how a tool is called and how it
fails in `server.py`.
"""

from collections.abc import Callable
from typing import Annotated, TypeAlias, TypeVar
from uuid import UUID

from pydantic import Field

from hwci.cli.agents import shortened
from hwci.cli.agents.shortened import ROWS, UNKNOWN, Fields
from hwci.cli.session import narrowing
from hwci.cli.session.connection import Connection
from hwci.cli.session.ids import repository_of
from hwci.client import calls
from hwci.client.errors import NotFoundError
from hwci.client.explained import ExplainedError, explain
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.flaky.suspects import AnsweredTest
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Label, RankBy
from hwci.wire import limits
from hwci.wire.queries import Detail

Days: TypeAlias = Annotated[
    int, Field(ge=1, le=limits.DAYS_MAX, description="How many days to look back.")
]
Page: TypeAlias = Annotated[
    int, Field(ge=1, description=f"Which page of the list; each has {ROWS} rows.")
]
Product: TypeAlias = Annotated[
    str | None,
    Field(
        description="Only this product, as REPOSITORY:SUITE (`products` lists them), or all of a"
        " repository, as REPOSITORY."
    ),
]
Branch: TypeAlias = Annotated[str | None, Field(description="Only this branch.")]
Commit: TypeAlias = Annotated[str, Field(description="A commit, or the first digits of its hash.")]
Test: TypeAlias = Annotated[str, Field(description="The whole id of a test.")]
FailureId: TypeAlias = Annotated[UUID, Field(description="A failure_id of another answer.")]
Item = TypeVar("Item")
_MONTH = limits.DAYS_DEFAULT
_NONE_ANNOUNCED = "no merge of these was announced"


class Questions:
    """What an agent may ask one organization. The public methods are the tools, by their names."""

    def __init__(self, server: Connection) -> None:
        self._server, self._org = server, server.org_id()

    def _scope(self, product: str | None) -> tuple[str | None, str | None]:
        """Return repository and suite that are meant. A key that reads one product means that."""
        key = self._server.reader_key
        if product is None and key is not None and len(key.products) == 1:
            return key.products[0].repo_key, key.products[0].suite
        if product is not None and ":" not in product and "/" in product:  # no name of a suite
            return product, None
        return self._server.scope_of(product, None)

    def _rows(
        self, listed: ListPage[Item], row: Callable[[Item], Fields], **filters: object
    ) -> Fields:
        """Return one page of a list. Without a row, a filter that names what no report names makes
        it unknown: 0 would say that there is none of it.
        """
        named = {name: value for name, value in filters.items() if value is not None}
        if listed.total == 0 and (why := narrowing.unknown(self._server, named)):
            return {"total": UNKNOWN, "why": shortened.in_tools(why), "rows": []}
        return shortened.rows(listed, row)

    def _product(self, product: str | None, test: str) -> tuple[str, str]:
        """Return repository and suite of the product that is meant, which has the test."""
        repo_key, suite = self._scope(product)
        if repo_key is not None and suite is not None:
            return repo_key, suite
        return self._server.product(product, test)

    def _were_announced(
        self, repo_key: str | None, suite: str | None, branch: str | None, days: int
    ) -> bool:
        """Return whether there are such merges: else nothing tells whether they ran."""
        merges = calls.list_merges(
            self._org, repo_key=repo_key, suite=suite, branch=branch, days=days, limit=1
        )
        return self._server.send(merges).total > 0

    def products(self, page: Page = 1) -> Fields:
        """List the products: a repository with a test suite, as other tools take them."""
        listed = self._server.send(calls.list_products(self._org, page=page, limit=ROWS))
        return shortened.rows(listed, shortened.of_product)

    def commit(self, commit: Commit, product: Product = None, days: Days = _MONTH) -> Fields:
        """Say what became of a commit: whether it ran on hardware, which tests failed on it, and
        whose fault each failure is (this change, the base branch, a flaky test, the bench), with
        the run that would tell where that is unknown. Also whether it was announced as a merge.
        """
        repo_key, suite = self._scope(product)
        merges = self._server.send(
            calls.list_merges(
                self._org, repo_key=repo_key, suite=suite, sha=commit, days=days, limit=ROWS
            )
        )
        announced = {"merges": shortened.rows(merges, shortened.of_merge)}
        try:
            repo_key = repo_key or repository_of(self._server, commit)
            answer = self._server.send(
                calls.one_commit(self._org, repo_key=repo_key, suite=suite, sha=commit, days=days)
            )
        except (ExplainedError, NotFoundError) as fault:
            message = fault.message if isinstance(fault, ExplainedError) else explain(fault)
            if message.wrong_usage:  # several repositories have such a commit
                raise
            # A merge that no run tested is an answer; a commit that nobody knows is none.
            ran = False if merges.total else UNKNOWN
            return {
                "commit": commit,
                "ran_on_hardware": ran,
                "why": message.cause or message.what,
                **announced,
            }
        return {**shortened.of_commit(answer), **announced}

    def merges_not_checked(
        self, product: Product = None, branch: Branch = None, days: Days = _MONTH, page: Page = 1
    ) -> Fields:
        """List the merges that never ran on a board, each with why, and what to do."""
        repo_key, suite = self._scope(product)
        listed = self._server.send(
            calls.explain_unchecked_merges(
                self._org,
                repo_key=repo_key,
                suite=suite,
                branch=branch,
                days=days,
                page=page,
                limit=ROWS,
            )
        )
        if listed.total == 0 and not self._were_announced(repo_key, suite, branch, days):
            return {"total": UNKNOWN, "why": _NONE_ANNOUNCED, "rows": []}
        return shortened.rows(listed, shortened.of_unchecked)

    def runs_that_would_check(
        self, product: Product = None, branch: Branch = None, days: Days = _MONTH
    ) -> Fields:
        """Plan the runs that would check the unchecked merges in the least board time."""
        repo_key, suite = self._scope(product)
        plan = self._server.send(
            calls.plan_merges(self._org, repo_key=repo_key, suite=suite, branch=branch, days=days)
        )
        if not plan.unchecked_merges and not self._were_announced(repo_key, suite, branch, days):
            return {"unchecked_merges": UNKNOWN, "why": _NONE_ANNOUNCED}
        return shortened.of_plan(plan)

    def figures(self, product: Product = None, days: Days = _MONTH) -> Fields:
        """Count merges checked on hardware, real firmware bugs, flaky failures and lost runs."""
        repo_key, suite = self._scope(product)
        page = self._server.send(
            calls.metrics(self._org, repo_key=repo_key, suite=suite, days=days)
        )
        return shortened.of_page(page)

    def failing_now(
        self, product: Product = None, branch: Branch = None, days: Days = _MONTH, page: Page = 1
    ) -> Fields:
        """List what fails now, failures with one cause as one: since which commit, on which boxes,
        and where to look first.
        """
        repo_key, suite = self._scope(product)
        listed = self._server.send(
            calls.list_incidents(
                self._org,
                repo_key=repo_key,
                suite=suite,
                branch=branch,
                days=days,
                page=page,
                limit=ROWS,
                label=Label.PENDING,
            )
        )
        scope = {"repo_key": repo_key, "suite": suite}
        return self._rows(listed, shortened.of_incident, branch=branch, **scope)

    def firmware_bugs(self, product: Product = None, days: Days = _MONTH, page: Page = 1) -> Fields:
        """List the real firmware bugs that boards caught: what broke each, and what fixed it."""
        repo_key, suite = self._scope(product)
        listed = self._server.send(
            calls.real_bugs(
                self._org, repo_key=repo_key, suite=suite, days=days, page=page, limit=ROWS
            )
        )
        return shortened.rows(listed, shortened.of_resolved)

    def other_failures(
        self, product: Product = None, days: Days = _MONTH, page: Page = 1
    ) -> Fields:
        """List the resolved failures that were no firmware bugs, or are ambiguous, with why."""
        repo_key, suite = self._scope(product)
        listed = self._server.send(
            calls.other_failures(
                self._org, repo_key=repo_key, suite=suite, days=days, page=page, limit=ROWS
            )
        )
        return shortened.rows(listed, shortened.of_resolved)

    def failure(self, failure_id: FailureId) -> Fields:
        """Show one failure: its class, each check of that class, and what would change it."""
        evidence = self._server.send(calls.get_failure(self._org, failure_id))
        explained = self._server.send(calls.explain_failure(self._org, failure_id))
        edits = [f"would be {edit.failure_class} if {edit.condition}" for edit in explained.edits]
        return {**shortened.of_failure(evidence), "what_would_change_it": shortened.some(edits)}

    def test(self, test: Test, product: Product = None, days: Days = _MONTH) -> Fields:
        """Say whether a test is flaky, broken or steady, since which commit, on which boxes, and
        whom to suspect.
        """
        repo_key, suite = self._product(product, test)
        answer = self._server.send(
            calls.one_test(self._org, repo_key=repo_key, suite=suite, test_id=test, days=days)
        )
        return shortened.of_test(answer)

    def tests(
        self,
        search: Annotated[str, Field(description="A part of the names.")],
        product: Product = None,
        page: Page = 1,
    ) -> Fields:
        """Find tests by a part of their names."""
        repo_key, suite = self._scope(product)
        listed = self._server.send(
            calls.list_tests(
                self._org, repo_key=repo_key, suite=suite, search=search, page=page, limit=ROWS
            )
        )
        return shortened.rows(
            listed,
            lambda name: {
                "product": shortened.product(name.repo_key, name.suite),
                "test": name.test_id,
            },
        )

    def flaky_tests(self, product: Product = None, days: Days = _MONTH, page: Page = 1) -> Fields:
        """List the tests that flaked in these days, surest first, each with whom to suspect. One
        whose `answer` is `fixed` flakes no more.
        """
        repo_key, suite = self._scope(product)
        listed = self._server.send(
            calls.suspects(
                self._org,
                repo_key=repo_key,
                suite=suite,
                days=days,
                page=page,
                limit=ROWS,
                rank_by=RankBy.LOWER_BOUND,
                detail=Detail.ANSWERS,
            )
        )

        def row(test: FlakyTest) -> Fields:
            if not isinstance(test, AnsweredTest):
                raise TypeError(test)
            return shortened.of_flaky(test)

        return shortened.rows(listed, row)

    def boxes(self, product: Product = None, days: Days = _MONTH) -> Fields:
        """Compare the boxes (benches) on the same commits, the worst first."""
        repo_key, suite = self._scope(product)
        answer = self._server.send(
            calls.box_health(self._org, repo_key=repo_key, suite=suite, days=days)
        )
        return shortened.first(answer.boxes, answer.boxes_total, shortened.of_box)

    def box(
        self,
        box: Annotated[str, Field(description="The name of a box.")],
        product: Product = None,
        days: Days = _MONTH,
    ) -> Fields:
        """Say how one box does: against the others, its lost runs, what fails on it alone."""
        repo_key, suite = self._scope(product)
        answer = self._server.send(
            calls.one_box(self._org, repo_key=repo_key, suite=suite, box_key=box, days=days)
        )
        return shortened.of_one_box(answer)

    def runs(
        self,
        product: Product = None,
        box: Annotated[str | None, Field(description="Only runs on this box.")] = None,
        commit: Annotated[str | None, Field(description="Only runs of this commit.")] = None,
        branch: Branch = None,
        page: Page = 1,
    ) -> Fields:
        """List runs, the latest first."""
        repo_key, suite = self._scope(product)
        listed = self._server.send(
            calls.list_runs(
                self._org,
                repo_key=repo_key,
                suite=suite,
                box_key=box,
                sha=commit,
                branch=branch,
                page=page,
                limit=ROWS,
            )
        )
        scope = {"repo_key": repo_key, "suite": suite}
        filters = {"box_key": box, "sha": commit, "branch": branch}
        return self._rows(listed, shortened.of_run, **filters, **scope)
