# SPDX-License-Identifier: Apache-2.0
"""Test the tests: change the code in small ways, and see whether a test fails (`make mutation`).

mutmut makes the changes (mutants). This module decides which code and which tests make an area,
draws as many mutants of each by a seed, so that a run can be repeated, and runs the tests that
reach the changed line, the cheapest first, until one fails. It does not know what a mutant means,
but leaves out those that cannot be told from the code: another letter case in a statement of SQL,
or in the name of a column of a `row`, which SQLite does not see.

pytest collects the tests of an area once. They run first without a mutant, to see which lines each
reaches and what it costs; then each mutant has a process of its own, forked from that one. What
another process runs there is the code without mutants.
"""

import argparse
import ast
import os
import random
import re
import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import unified_diff
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from itertools import accumulate
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic, process_time
from typing import NamedTuple

import coverage
import pytest
from hypothesis import Phase, settings
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.mutation.trampoline import set_mutant_under_test

ROOT = Path(__file__).parents[1]
MADE = ROOT / "mutants"
KILLED_SHARE = 0.9
KILLED = ("killed", "timeout")

ENOUGH_SECONDS = 20.0
"""Processor time of the tests that try one mutant: of more, the cheapest. A mutant that only one of
the others would find counts as survived."""
SPARE_SECONDS, TIMES_AS_LONG = 30.0, 5
"""A test may take as many times as long with a mutant as without one, and the seconds to spare."""
MEMORY_BYTES = 8 * 1024**3
"""A mutant that wants more ends in an error."""

SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|REPLACE|FROM|WHERE|AND|OR|PRAGMA|BEGIN)\b|= \?")
"""What a part of a statement has in it."""

FORK = get_context("fork")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Area(NamedTuple):
    """Code, as patterns of files, and the tests that are about it."""

    code: Sequence[str]
    tests: Sequence[str]


AREAS: Mapping[str, Area] = {
    "rules": Area(["hwci/engine/rules/*.py"], ["tests/engine", "tests/reference"]),
    "auth": Area(
        [
            "hwci/server/security/[!r]*.py",
            "hwci/server/services/access.py",
            "hwci/server/services/keys.py",
            "hwci/server/services/people/sessions.py",
            "hwci/server/http/cookies.py",
        ],
        [
            "tests/server/test_access.py",
            "tests/server/test_access_tokens.py",
            "tests/server/test_accounts.py",
            "tests/server/test_boxes.py",
            "tests/server/test_cookie_sessions.py",
            "tests/server/test_credential_kinds.py",
            "tests/server/test_guessing.py",
            "tests/server/test_members.py",
            "tests/server/test_operating.py",
            "tests/server/test_own_account.py",
            "tests/server/test_reader_keys.py",
            "tests/server/test_refresh.py",
            "tests/server/test_secrets.py",
            "tests/server/test_serving.py",
            "tests/server/test_sso_refusals.py",
            "tests/server/test_stream_ends.py",
            "tests/spec/test_authentication.py",
            "tests/spec/test_ci_keys.py",
        ],
    ),
    "limits": Area(
        [
            "hwci/server/security/rate_limiter.py",
            "hwci/server/services/rate_limits.py",
            "hwci/server/http/rate_limits.py",
            "hwci/server/http/bodies/[!a]*.py",  # apart.py is another process
        ],
        [
            "tests/server/test_accounts.py",
            "tests/server/test_bodies.py",
            "tests/server/test_ci_reports.py",
            "tests/server/test_guessing.py",
            "tests/server/test_json_oddities.py",
            "tests/server/test_large_bodies.py",
            "tests/server/test_rate_limits.py",
            "tests/server/test_slow_clients.py",
            "tests/spec/test_limits.py",
            "tests/spec/test_rate_limits.py",
        ],
    ),
    "store": Area(["hwci/client/store/*.py"], ["tests/client/store"]),
}


class Mutant(NamedTuple):
    """A change: its name for mutmut, the lines of it, and where the unchanged code stands."""

    name: str
    diff: str
    file: Path
    statement: range
    function: range


class Measured(NamedTuple):
    """A test without a mutant: what it costs, and how it failed if it did."""

    seconds: float
    processor: float
    fault: str


class MutatedModules(MetaPathFinder):
    """Imports the modules of an area from the files that mutmut made, and lists the mutants."""

    def __init__(self, name: str) -> None:
        self.mutants: list[Mutant] = []
        self._files: dict[str, tuple[Path, Path]] = {}
        for file in sorted(found for code in AREAS[name].code for found in ROOT.glob(code)):
            made = MADE / name / file.relative_to(ROOT)
            parts = file.relative_to(ROOT).with_suffix("").parts
            module = ".".join(part for part in parts if part != "__init__")
            self._files[module] = file, made
            made.parent.mkdir(parents=True, exist_ok=True)
            self.mutants += _mutants_of(module, file, made)

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Find a module of the area; another finder has all others."""
        del path, target
        if fullname not in self._files:
            return None
        file, made = self._files[fullname]
        within = [str(file.parent)] if file.name == "__init__.py" else None
        return spec_from_file_location(fullname, made, submodule_search_locations=within)


def _mutants_of(module: str, file: Path, made: Path) -> Iterator[Mutant]:
    """Write the code with all mutants of a file to `made`, and yield each."""
    mutated = mutate_file_contents(str(file), file.read_text())
    made.write_text(mutated.code)
    lines, tree = mutated.code.splitlines(), ast.parse(mutated.code)
    statements = list(_statements(tree))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}
    for name in mutated.mutant_names:
        unchanged = f"{name.rpartition('_mutmut_')[0]}_mutmut_orig"
        if _is_same_to_sqlite(functions[unchanged], functions[name]):
            continue
        before, after = (mutated.line_span_by_function_name[one] for one in (unchanged, name))
        old = [line.replace(unchanged, name) for line in lines[before.start - 1 : before.end]]
        new = lines[after.start - 1 : after.end]
        same = zip(old, [*new, *old], strict=False)  # a mutant may be shorter
        line = before.start + next(at for at, (one, other) in enumerate(same) if one != other)
        yield Mutant(
            name=f"{module}.{name}",
            diff="\n".join(unified_diff(old, new, n=2, lineterm="")),
            file=made,
            statement=min((one for one in statements if line in one), key=len),
            function=range(before.start, before.end + 1),
        )


def _is_same_to_sqlite(unchanged: Function, mutant: Function) -> bool:
    """Whether two functions differ in nothing but their names, and in letter case that SQLite does
    not see. The mutant is made like the other in these.
    """
    columns = {
        id(node.slice)
        for node in ast.walk(unchanged)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "row"
    }
    for one, other in zip(ast.walk(unchanged), ast.walk(mutant), strict=False):
        match one, other:
            case ast.Constant(str(old)), ast.Constant(str(new)):
                seen = id(one) in columns or SQL.search(old) is not None
                if seen and _without_case(old) == _without_case(new):
                    other.value = old
    mutant.name = unchanged.name
    return ast.dump(unchanged) == ast.dump(mutant)


def _without_case(statement: str) -> str:
    """Return a statement in small letters, but for the texts in it."""
    parts = enumerate(statement.split("'"))
    return "'".join(part if at % 2 else part.lower() for at, part in parts)


def _statements(tree: ast.Module) -> Iterator[range]:
    """Yield the lines of each statement, and those of its head if it has a block."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            assert node.end_lineno is not None
            yield range(node.lineno, node.end_lineno + 1)
            if body := getattr(node, "body", None):
                yield range(node.lineno, max(node.lineno + 1, body[0].lineno))


@contextmanager
def _forked(work: Callable[[Connection], None]) -> Iterator[Connection]:
    """Do work in a process of its own, which ends with the block, and all that it started."""
    answers, sender = FORK.Pipe(duplex=False)

    def run() -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        work(sender)
        os._exit(0)  # threads of a server may still run

    process = FORK.Process(target=run)
    process.start()
    sender.close()
    try:
        yield answers
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()


class Trial:
    """A plugin of pytest that runs the tests of an area without a mutant, and for each mutant."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self.counts: Counter[str] = Counter()
        self._mutants = mutants
        self._fault = ""

    def pytest_collection(self) -> None:
        """Look for counterexamples as `tests/conftest.py` has it, but do not make them smaller."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", settings.get_profile("same"), phases=phases)
        settings.load_profile("mutation")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that a test failed."""
        if report.failed:
            self._fault = self._fault or report.longreprtext or "failed"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run everything, in other processes."""
        plugins = session.config.pluginmanager
        plugins.unregister(plugins.get_plugin("terminalreporter"))
        with _forked(lambda answers: answers.send(self._measure(session.items))) as answers:
            tests, reached = answers.recv()
        for name, test in tests.items():
            if test.fault:
                print(f"left out, fails without a mutant: {name}\n{test.fault}", flush=True)
        for mutant in self._mutants:
            lines = reached[str(mutant.file)]
            reach = _reach(mutant.statement, lines) or _reach(mutant.function, lines)
            items = [
                one for one in session.items if one.nodeid in reach and not tests[one.nodeid].fault
            ]
            result, why = self._try(mutant, _chosen(items, tests), tests)
            self.counts[result] += 1
            print(f"{result}  {mutant.name}  {why}", flush=True)
            if result not in KILLED:
                print(mutant.diff, flush=True)
        return True

    def _measure(
        self, items: Sequence[pytest.Item]
    ) -> tuple[dict[str, Measured], dict[str, dict[int, list[str]]]]:
        """Run all tests without a mutant. Return each, and the tests that reach a line."""
        files = {str(mutant.file) for mutant in self._mutants}
        lines = coverage.Coverage(data_file=None, config_file=False, include=sorted(files))
        tests = {}
        lines.start()
        for item, following in zip(items, [*items[1:], None], strict=True):
            lines.switch_context(item.nodeid)
            tests[item.nodeid] = self._run(item, following)
        lines.stop()
        data = lines.get_data()
        return tests, {file: data.contexts_by_lineno(file) for file in files}

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> Measured:
        began, processor = monotonic(), process_time()
        self._fault = ""
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return Measured(monotonic() - began, process_time() - processor, self._fault)

    def _try(
        self, mutant: Mutant, items: Sequence[pytest.Item], tests: Mapping[str, Measured]
    ) -> tuple[str, str]:
        """Return what became of a mutant, and the test that found it or how many did not."""

        def work(answers: Connection) -> None:
            set_mutant_under_test(mutant.name)
            for item, following in zip(items, [*items[1:], None], strict=True):
                answers.send(self._run(item, following).fault)

        if not items:
            return "not reached", ""
        with _forked(work) as answers:
            for item in items:
                if not answers.poll(SPARE_SECONDS + TIMES_AS_LONG * tests[item.nodeid].seconds):
                    return "timeout", item.nodeid
                try:
                    fault = answers.recv()
                except EOFError:
                    fault = "the process ended"
                if fault:
                    return "killed", item.nodeid
        return "survived", f"{len(items)} tests"


def _reach(lines: range, tests: Mapping[int, Sequence[str]]) -> set[str]:
    return {test for line in lines for test in tests.get(line, ()) if test}


def _chosen(items: Sequence[pytest.Item], tests: Mapping[str, Measured]) -> Sequence[pytest.Item]:
    """Return tests to try a mutant with: the cheapest, and those of one file together, as they
    share a server.
    """

    def cost(item: pytest.Item) -> float:
        return tests[item.nodeid].processor

    cheapest = sorted(items, key=cost)
    spent = accumulate(map(cost, cheapest))
    chosen = [one for one, by in zip(cheapest, spent, strict=True) if by <= ENOUGH_SECONDS]
    of_file = Counter(item.path for item in chosen)
    return sorted(
        chosen or cheapest[:1], key=lambda item: (of_file[item.path], item.path, cost(item))
    )


def _try_area(name: str, area: Area, given: argparse.Namespace, answers: Connection) -> None:
    """Try mutants of an area, and answer how many came to what."""
    modules = MutatedModules(name)
    sys.meta_path.insert(0, modules)
    found = sorted(one for one in modules.mutants if one.name.endswith(tuple(given.only)))
    random.Random(given.seed).shuffle(found)  # so a smaller number are the first of a larger one
    trial = Trial(found[: given.each])
    plain = ["-q", "-p", "no:xdist", "--assert=plain", "--tb=line"]
    pytest.main([*plain, f"--basetemp={MADE / name / 'tmp'}", *area.tests], plugins=[trial])
    print(f"{name}: {dict(trial.counts)} of {len(found)} mutants, seed {given.seed}", flush=True)
    answers.send(trial.counts)


def main() -> int:
    """Try mutants of each area; fail if too few are killed."""
    options = argparse.ArgumentParser(description="Test the tests by mutants of the code.")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--each", type=int, default=100, help="mutants of each area")
    options.add_argument("--only", nargs="*", default=[""], help="those whose names end with one")
    options.add_argument("--tests", nargs="*", help="instead of those of the area")
    options.add_argument("areas", nargs="*", default=list(AREAS), help=", ".join(AREAS))
    given = options.parse_args()
    total: Counter[str] = Counter()
    for name in given.areas:
        area = AREAS[name]._replace(**({"tests": given.tests} if given.tests else {}))
        with _forked(partial(_try_area, name, area, given)) as answers:
            total += answers.recv()
    killed = sum(total[status] for status in KILLED)
    print(f"{killed} of {total.total()} killed, {total['timeout']} of them by time")
    return 0 if killed >= KILLED_SHARE * total.total() > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
