# SPDX-License-Identifier: Apache-2.0
"""The examples for CI systems, with the action of GitHub and the component of GitLab that they use:
what they run is run here, as the system would, with its recorded environment, against a real
server.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from hwci.ci.new_job import JOBS, job_text
from hwci.client import Client, calls
from hwci.contract.ci_systems import CiSystem, SigningSystem
from tests.ci.systems.cases import Jobs, Runner
from tests.cli.jobs import git, junit, repository
from tests.cli.printed_jobs import PrintedBench
from tests.examples.reading import stages
from tests.server.crooked import crooked_provider
from tests.server.job_tokens import NAMES, minted
from tests.server.job_tokens import Runner as GitHubRunner
from tests.support.answering import unused_url
from tests.support.comes_and_goes import ServerThatComesAndGoes
from tests.support.held_port import held_port
from tests.support.recorded import recorded
from tests.support.running import RunningServer, running_in_thread
from tests.support.soak import rounds

ROOT = Path(__file__).parents[2]
ACTION, COMPONENT = ROOT / "action.yml", ROOT / "templates" / "hwci.yml"
EXAMPLES = ROOT / "examples" / "ci"
BENCH = re.compile(r"bench-1|self-hosted")
SYSTEMS = {
    "github": "github-push",
    "gitlab": "gitlab-push",
    "jenkins": "jenkins-multibranch",
    "buildkite": "buildkite-webhook",
    "circleci": "circleci-push",
    "azure": "azure-ci",
}
WAITS = ("needs", "dependsOn", "depends_on", "requires")
COMMITTED = {
    "github": "GITHUB_SHA",
    "gitlab": "CI_COMMIT_SHA",
    "jenkins": "GIT_COMMIT",
    "buildkite": "BUILDKITE_COMMIT",
    "circleci": "CIRCLE_SHA1",
    "azure": "BUILD_SOURCEVERSION",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server; no bench has ever spoken to it."""
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The checkout of a job, with `hwci`, `pipx`, `pip` and `python3` where the job finds them."""
    folder = tmp_path / "checkout"
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "hil.xml").write_text(junit("a", "b", fails="b"))
    (folder / "started").write_text("2026-01-31T09:30:00Z\n")
    (folder / "hello.ok").touch()
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "One")
    tools = tmp_path / "bin"
    tools.mkdir()
    hwci = f'exec "{sys.executable}" -m hwci "$@"'
    of_server = '; case "$url" in *.whl#sha256=*) ;; *) echo "from where? $*"; exit 1;; esac'
    pipx = f'url="$3"{of_server}; shift 3; exec "$@"'
    pip = f'for url; do :; done{of_server}; cp "{tools}/hwci" "$(dirname "$0")/hwci"'
    python3 = f'[ "$1 $2" = "-m venv" ]; mkdir -p "$3/bin"; cp "{tools}/pip" "$3/bin/pip"'
    made = {"hwci": hwci, "pipx": pipx, "pip": pip, "python3": python3}
    for name, script in made.items():
        (tools / name).write_text(f"#!/bin/sh -e\n{script}\n")
        (tools / name).chmod(0o755)
    return folder


def read(path: str | Path) -> list[Any]:
    return list(yaml.safe_load_all((EXAMPLES / path).read_text()))


def github(job: str) -> tuple[str, dict[str, str]]:
    """Return the scripts of the action with what a job of the workflow hands to it."""
    [action], [workflow] = read(ACTION), read("github/workflow.yml")
    [use] = [s for s in workflow["jobs"][job]["steps"] if "acme/hwci" in s.get("uses", "")]
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()}
    inputs |= {name: value for name, value in use["with"].items() if "${{" not in value}
    inputs["wheel"] = workflow["env"]["HWCI_WHEEL"]
    install, step = action["runs"]["steps"]
    values = {
        f"${{{{ inputs.{name} }}}}": value
        for name, value in inputs.items()
        if name not in {"server", "api-key"}
    }
    values |= {"${{ inputs.hello }}": "success", "${{ job.status }}": "failure"}
    given = install["env"] | step["env"]
    environ = {name: values[value] for name, value in given.items() if value in values}
    return install["run"] + step["run"], environ


def gitlab(job: str) -> tuple[str, dict[str, str]]:
    _, jobs = read(COMPONENT)
    lines = {
        "announce": jobs["hwci-announce"]["script"],
        "hil": jobs[".hwci-report"]["after_script"],
    }
    [include] = read("gitlab/pipeline.yml")[0]["include"]
    wheel = include["inputs"]["wheel"]
    return "\n".join(lines[job]), {"HWCI_JUNIT": "results/*.xml", "HWCI_WHEEL": wheel}


def jenkins(job: str) -> tuple[str, dict[str, str]]:
    text = (EXAMPLES / "jenkins/Jenkinsfile").read_text()
    scripts = re.findall(r"sh '{3}(.*?)'{3}|sh '([^'\n]+)'", text, re.DOTALL)
    command = {"announce": "merge-announce", "hil": "report-run"}[job]
    [script] = [one for pair in scripts for one in pair if command in one]
    [wheel] = re.findall(r"HWCI_WHEEL = '(.*)'", text)
    environ = {"HWCI_TRIGGER": "merge", "HWCI_CONCLUSION": "FAILURE", "HWCI_WHEEL": wheel}
    return script, environ


def buildkite(job: str) -> tuple[str, dict[str, str]]:
    if job == "hil":
        hook = (EXAMPLES / "buildkite/hooks/post-command").read_text()
        return hook, {"BUILDKITE_STEP_KEY": "hil", "BUILDKITE_COMMAND_EXIT_STATUS": "1"}
    [said] = read("buildkite/pipeline.yml")
    assert said["secrets"] == ["HWCI_CI_KEY"]  # a cluster gives a job no other secret
    [step] = [one for one in said["steps"] if one["key"] == job]
    return step["command"].replace("$$", "$"), {"HWCI_WHEEL": said["env"]["HWCI_WHEEL"]}


def circleci(job: str) -> tuple[str, dict[str, str]]:
    said = read("circleci/config.yml")[0]["jobs"][job]
    runs = [one["run"] for one in said["steps"] if isinstance(one, dict) and "run" in one]
    scripts = [run["command"] if isinstance(run, dict) else run for run in runs]
    environ = {
        "<< pipeline.trigger_source >>": "webhook",
        "<< pipeline.git.base_revision >>": "",
    }
    given = {name: environ.get(value, value) for name, value in said["environment"].items()}
    [script] = [script for script in scripts if "hwci " in script]
    return script, given | {"HWCI_CONCLUSION": "failed"}


def azure(job: str) -> tuple[str, dict[str, str]]:
    [pipeline] = read("azure/azure-pipelines.yml")
    [said] = [one for one in pipeline["jobs"] if one["job"] == job]
    [script] = [one["script"] for one in said["steps"] if "hwci " in one.get("script", "")]
    wheel = pipeline["variables"]["HWCI_WHEEL"]
    return script.replace("$(HWCI_WHEEL)", wheel), {"AGENT_JOBSTATUS": "Failed"}


SCRIPTS = {
    "github": github,
    "gitlab": gitlab,
    "jenkins": jenkins,
    "buildkite": buildkite,
    "circleci": circleci,
    "azure": azure,
}


def run(
    system: str,
    job: str,
    checkout: Path,
    server: RunningServer | ServerThatComesAndGoes,
    strict: str = "1",
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run what the example runs in a job, as its system would."""
    script, given = SCRIPTS[system](job)
    environ = {
        "PATH": f"{checkout.parent / 'bin'}:{os.environ['PATH']}",
        "HOME": str(checkout.parent),
        "PYTHONPATH": str(ROOT),
        **recorded(SYSTEMS[system]),
        COMMITTED[system]: git(checkout, "rev-parse", "HEAD"),
        **given,
        "HWCI_URL": server.url,
        "HWCI_CI_KEY": server.ci_key,
        "HWCI_REPO_KEY": f"{system}/{job}",
        "HWCI_STRICT": strict,
        **variables,
    }
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=checkout,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_merge_is_announced_while_every_bench_is_offline(
    system: str, checkout: Path, server: RunningServer
) -> None:
    done = run(system, "announce", checkout, server)

    assert done.returncode == 0, done.stderr
    with Client(server.url, token=server.token) as client:
        merges = client.send(
            calls.unchecked_merges(server.org_id, days=3650, repo_key=f"{system}/announce")
        )
    assert [merge.sha for merge in merges.items] == [git(checkout, "rev-parse", "HEAD")]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_that_failed_is_reported_from_the_bench(
    system: str, checkout: Path, server: RunningServer
) -> None:
    done = run(system, "hil", checkout, server)

    assert done.returncode == 0, done.stderr
    with Client(server.url, token=server.token) as client:
        [reported] = client.send(calls.list_runs(server.org_id, repo_key=f"{system}/hil")).items
    assert (reported.tests.total, reported.tests.failed) == (2, 1)
    assert (reported.box_key, reported.hello_ok) == ("bench-1", True)
    assert str(reported.conclusion).lower() in {"failure", "failed"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_that_died_before_its_tests_is_reported_and_fails_no_step(
    system: str, checkout: Path, server: RunningServer
) -> None:
    for name in ("results/hil.xml", "started", "hello.ok"):
        (checkout / name).unlink()

    done = run(system, "hil", checkout, server, strict="false", STATUS="cancelled")

    assert done.returncode == 0, done.stderr
    with Client(server.url, token=server.token) as client:
        newest = client.send(calls.list_runs(server.org_id, repo_key=f"{system}/hil")).items[0]
    assert newest.tests.total == 0
    # On GitHub the step says it, and it passed; elsewhere hello.ok does.
    assert newest.hello_ok is (system == "github")
    assert (newest.conclusion == "cancelled") is (system == "github"), "handed on as job.status"


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_bench_without_hwci_fails_no_step_and_says_so(
    system: str, checkout: Path, server: RunningServer
) -> None:
    tools = checkout.parent / "bin"
    (tools / "hwci").unlink()
    for name in ("pipx", "python3"):
        (tools / name).write_text("#!/bin/sh\nexit 1\n")
    done = run(system, "hil", checkout, server, strict="false")

    # What runs after a job of GitLab fails none.
    assert done.returncode == (127 if system == "gitlab" else 0)
    assert "hwci" in done.stdout + done.stderr


@pytest.mark.parametrize("system", rounds(["github", "jenkins"], [*SYSTEMS]))
def test_a_report_while_the_server_is_away_fails_no_step_and_comes_with_the_next(
    system: str, checkout: Path, tmp_path: Path
) -> None:
    """The tests are a step of their own. First pipx and pip find no server either, then only the
    report and the announcement do not.
    """
    tools = checkout.parent / "bin"
    installing = {tools / name: (tools / name).read_text() for name in ("pipx", "python3")}
    shutil.copytree(tools, checkout.parent / ".hwci" / "bin")  # of an earlier job
    with held_port() as port:
        server = ServerThatComesAndGoes(tmp_path, port)
        in_job = partial(run, system, checkout=checkout, server=server, strict="")
        server.stop()
        for tool in installing:
            tool.write_text("#!/bin/sh\nexit 1\n")
        ended = [in_job("hil", HWCI_RUN_ID="1", HWCI_DEADLINE="0")]
        for tool, works in installing.items():
            tool.write_text(works)
        ended.append(in_job("hil", HWCI_RUN_ID="2", HWCI_DEADLINE="0"))
        ended.append(in_job("announce", HWCI_DEADLINE="0"))
        server.start()
        ended.append(in_job("hil", HWCI_RUN_ID="3"))
        runs, merges = server.runs(f"{system}/hil"), server.merges(f"{system}/announce")
        server.stop()

    assert [done.returncode for done in ended] == [0, 0, 0, 0], ended
    assert [number for number, *_ in runs] == [1, 2, 3]
    assert merges == [git(checkout, "rev-parse", "HEAD")]


@pytest.mark.parametrize("system", ["github", "gitlab"])
def test_a_job_signs_in_to_the_organization_that_the_action_or_the_component_is_given(
    system: str, checkout: Path, tmp_path: Path
) -> None:
    step = read(ACTION)[0]["runs"]["steps"][-1]
    assert step["env"]["HWCI_ORG"] == "${{ inputs.organization }}"
    of_component = read(COMPONENT)[1][".hwci"]
    assert of_component["variables"]["HWCI_ORG"] == "$[[ inputs.organization ]]"
    assert of_component["id_tokens"] == {"HWCI_ID_TOKEN": {"aud": "$[[ inputs.server ]]"}}
    by = SigningSystem(system)

    with (
        crooked_provider() as issuer,
        running_in_thread(tmp_path / "server", ci_issuers=((by, issuer.url),)) as server,
        Client(server.url, token=server.token) as client,
        closing(GitHubRunner(server, issuer)) as runner,
    ):
        client.send(calls.create_trust(server.org_id, by, NAMES[by], issuer=issuer.url))
        token = {"HWCI_ID_TOKEN": minted(server, by, issuer)}
        identity = runner.variables if system == "github" else token
        own = {"HWCI_CI_KEY": "", "HWCI_ORG": str(server.org_id)}
        done = run(system, "hil", checkout, server, **own, **identity)

        assert done.returncode == 0, done.stderr
        listed = client.send(calls.list_runs(server.org_id, repo_key=f"{system}/hil"))
    assert listed.total == 1, done.stderr


def jobs(system: str) -> tuple[object, object, object]:
    """Return the settings of an example's jobs: that announces, that builds, and the bench's."""
    match system:
        case "github":
            said = read("github/workflow.yml")[0]["jobs"]
            return said["announce"], said["build"], said["hil"]
        case "gitlab":
            said = read("gitlab/pipeline.yml")[0]
            announce = read(COMPONENT)[1]["hwci-announce"]
            return announce, said["build"], said["hil"]
        case "jenkins":
            [push] = stages((EXAMPLES / "jenkins/Jenkinsfile").read_text()).values()
            at_once = stages(push)
            build, hil = stages(at_once["Firmware"]).values()
            return at_once["Announce"], build, hil
        case "buildkite":
            announce, build, hil = read("buildkite/pipeline.yml")[0]["steps"]
            return announce, build, hil
        case "circleci":
            said = read("circleci/config.yml")[0]["jobs"]
            [flow] = read("circleci/config.yml")[0]["workflows"].values()
            waits = {
                name: one
                for job in flow["jobs"]
                if isinstance(job, dict)
                for name, one in job.items()
            }
            hil = said["hil"] | {"requires": waits["hil"]["requires"]}
            return said["announce"], said["build"], hil
        case _:
            announce, build, hil = read("azure/azure-pipelines.yml")[0]["jobs"]
            return announce, build, hil


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_announcement_stands_in_a_job_that_needs_no_bench(system: str) -> None:
    announce, _, hil = map(str, jobs(system))

    assert "merge-announce" in announce
    assert not BENCH.search(announce)
    assert BENCH.search(hil)
    assert "merge-announce" not in hil


NO_MATTER = {
    "github": ("continue-on-error", True),
    "gitlab": ("allow_failure", True),
    "buildkite": ("soft_fail", True),
    "azure": ("continueOnError", True),
}
"""What each system's job says whose failure is no matter of the build."""


@pytest.mark.parametrize(("system", "said"), NO_MATTER.items())
def test_an_announcement_that_fails_does_not_concern_the_build(
    system: str, said: tuple[str, bool]
) -> None:
    announce, build, hil = jobs(system)

    assert isinstance(announce, dict)
    assert announce.get(said[0]) is said[1]
    assert said[0] not in str(build) + str(hil)


def test_jenkins_catches_an_announcement_that_fails_or_waits() -> None:
    """Its `catchError` would hand on to the build that the time was over."""
    announce, _, _ = jobs("jenkins")
    said = re.sub(r"\s+", " ", str(announce))
    before, tried, after = re.split(r"\btry \{|\} catch \(fault\) \{", said)

    assert re.match(r" timeout\(time: 10, unit: 'MINUTES'\) \{ node\('linux && !bench'\) \{", tried)
    assert "sh 'pipx run --spec \"$HWCI_WHEEL\" hwci merge-announce'" in tried
    assert "agent" not in before
    assert "sh '" not in before + after
    assert "catchError" not in said


def test_jenkins_builds_and_tests_beside_its_announcement() -> None:
    [push] = stages((EXAMPLES / "jenkins/Jenkinsfile").read_text()).values()

    assert re.match(r"\{\s+parallel \{", push)
    assert list(stages(push)) == ["Announce", "Firmware"]
    assert list(stages(stages(push)["Firmware"])) == ["Build", "HIL"]
    assert "failFast" not in push


@pytest.mark.parametrize("pipx", ["exit 1", "exit 2"])
def test_a_system_without_a_word_for_it_goes_on_after_an_announcement_that_fails(
    pipx: str, checkout: Path, server: RunningServer
) -> None:
    (checkout.parent / "bin" / "pipx").write_text(f"#!/bin/sh\n{pipx}\n")

    done = run("circleci", "announce", checkout, server)

    assert (done.returncode, done.stderr) == (0, "The merge is not announced.\n")


def test_the_build_waits_for_no_announcement_of_gitlab() -> None:
    """Its stage comes first, and a job without `needs` waits for the stages before its own."""
    _, build, _ = jobs("gitlab")

    assert isinstance(build, dict)
    assert build["needs"] == []


def test_the_bench_does_not_wait_for_the_announcement_and_the_other_way_round() -> None:
    for system in ("github", "circleci", "azure", "buildkite"):
        announce, build, hil = jobs(system)
        for job, waits in ((announce, []), (build, []), (hil, ["build"])):
            assert isinstance(job, dict)
            waited_for = [job[word] for word in WAITS if job.get(word)]
            assert waited_for in (waits, [waits])


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_build_that_fails_is_no_matter_of_the_bench(system: str) -> None:
    """The bench's job does not begin then, so there is no step that could report it."""
    _, build, hil = map(str, jobs(system))

    assert "make firmware" in build
    assert "make firmware" not in hil
    assert not BENCH.search(build)
    assert "hwci" not in build


@pytest.mark.parametrize(
    ("path", "cleared", "fetched"),
    [
        ("github/workflow.yml", "rm -rf results", "download-artifact"),
        ("jenkins/Jenkinsfile", "rm -rf results hello.ok started", "unstash"),
        ("buildkite/pipeline.yml", "rm -rf results hello.ok", "artifact download"),
        ("circleci/config.yml", "rm -rf results hello.ok", "attach_workspace"),
        ("azure/azure-pipelines.yml", "clean: true", "download: current"),
    ],
)
def test_what_the_build_before_left_is_gone_before_anything_can_fail(
    path: str, cleared: str, fetched: str
) -> None:
    """The report is sent whatever failed, with the files that lie there."""
    text = (EXAMPLES / path).read_text()

    assert text.count(cleared) == text.count(fetched) == 1
    assert text.index(cleared) < text.index(fetched)


def scripts_of_wrappers() -> list[str]:
    """Return what the action and the component run."""
    [action], [_, jobs] = read(ACTION), read(COMPONENT)
    lines = [job.get(key, []) for job in jobs.values() for key in ("script", "after_script")]
    return [step["run"] for step in action["runs"]["steps"]] + ["\n".join(part) for part in lines]


def test_neither_inputs_nor_secrets_stand_in_a_script_of_the_action_or_the_component() -> None:
    text = "\n".join(scripts_of_wrappers())

    assert [word for word in ("${{", "$[[", "CI_KEY", "TOKEN") if word in text] == []


def test_every_input_of_the_action_and_the_component_reaches_its_scripts() -> None:
    [action], [spec, jobs] = read(ACTION), read(COMPONENT)

    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", ACTION.read_text()))
    assert used == action["inputs"].keys()
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", COMPONENT.read_text()))
    assert used == spec["spec"]["inputs"].keys()
    common = jobs.pop(".hwci")["variables"]
    assert {job["extends"] for job in jobs.values()} == {".hwci"}
    names = set(re.findall(r"\$(HWCI_\w+)", "\n".join(scripts_of_wrappers())))
    assert names - common.keys() == {"HWCI_STRICT"}, "of the action alone"


def test_jobs_that_people_are_shown_give_the_inputs_that_there_are() -> None:
    [action], [spec, jobs] = read(ACTION), read(COMPONENT)
    guide = (ROOT / "docs/how-to/report-from-ci.md").read_text()
    part = guide.split("## The action and the component")[1].split("\n## ")[0]
    [[shown], pipeline] = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", part, re.DOTALL))
    [workflow], [example] = read("github/workflow.yml"), read("gitlab/pipeline.yml")
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    uses = [step["with"] for step in (*steps, shown) if "acme/hwci" in step.get("uses", "")]
    includes = [file["include"][0]["inputs"] for file in (example, pipeline)]

    for given, inputs in [
        *((given, action["inputs"]) for given in uses),
        *((given, spec["spec"]["inputs"]) for given in includes),
    ]:
        needed = {name for name, one in inputs.items() if "default" not in one}
        assert needed <= given.keys() <= inputs.keys()
    assert len(uses) == 3
    assert {file["hil"]["extends"] for file in (example, pipeline)} == jobs.keys() - {
        ".hwci",
        "hwci-announce",
    }


def test_the_action_and_the_component_install_as_the_job_that_is_printed() -> None:
    printed = yaml.safe_load(job_text(JOBS[CiSystem.GITLAB], [], "", ""))
    install = printed["announce"]["script"][0]

    assert "venv ../.hwci" in install
    assert "\n".join(scripts_of_wrappers()).count(install) == 1 + 3


def action(text: str) -> Jobs:
    steps = yaml.safe_load(text)["runs"]["steps"]
    assert {step["shell"] for step in steps} == {"bash"}
    return {"hil": [step["run"] for step in steps]}, {"COMMAND": "exec", "JUNIT": "out.xml"}


def component(text: str) -> Jobs:
    _, jobs = yaml.safe_load_all(text)
    return {"hil": jobs[".hwci-exec"]["script"]}, {"HWCI_JUNIT": "out.xml"}


BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
WRAPPERS = {
    ACTION: Runner(action, "github-push", BASH),
    COMPONENT: Runner(component, "gitlab-push", ("bash", "-eo", "pipefail"), one_shell=True),
}
TESTS = """\
../.hwci/bin/pip install --quiet pytest
../.hwci/bin/pytest hil --junit-xml=out.xml
"""


def of_wrapper(path: Path, folder: Path, url: str, key: str, **variables: str) -> PrintedBench:
    """Return a bench that runs tests by the action or the component, with a real pip."""
    repository(folder / "checkout", "hil/test_a.py")
    given = {"HWCI_URL": url, "HWCI_CI_KEY": key, "TESTS": TESTS, **variables}
    return PrintedBench(folder, WRAPPERS[path], path.read_text(), **given)


@pytest.mark.parametrize("path", WRAPPERS, ids=lambda path: path.name)
def test_tests_that_the_action_or_the_component_runs_are_reported_with_their_exit_code(
    path: Path, tmp_path: Path, server: RunningServer
) -> None:
    with Client(server.url, token=server.token) as client:
        wheel = client.send(calls.wheel()).at(server.url)
        bench = of_wrapper(path, tmp_path, server.url, server.ci_key, HWCI_WHEEL=wheel)
        code, out = bench.run("hil")
        repo_key = bench.environ["HWCI_REPO_KEY"]
        [run] = client.send(calls.list_runs(server.org_id, repo_key=repo_key)).items

    assert code == 1, out
    assert (run.box_key, run.tests.total, run.tests.failed) == ("bench-1", 2, 1)
    assert (run.sha, run.conclusion) == (bench.sha, "failure")


@pytest.mark.parametrize("path", WRAPPERS, ids=lambda path: path.name)
def test_tests_run_where_neither_hwci_nor_its_server_is_there(path: Path, tmp_path: Path) -> None:
    given = {"HWCI_WHEEL": f"{unused_url()}/no.whl", "TESTS": "touch ran; exit 3"}
    bench = of_wrapper(path, tmp_path, unused_url(), "svc_" + "1" * 64, **given)
    code, out = bench.run("hil")

    assert (code, (bench.checkout / "ran").exists()) == (3, True), out
    assert f"hwci report-run --sha {bench.sha}" in out


def test_a_strict_action_keeps_no_bench_busy_without_hwci_and_one_whose_board_is_away_no_tests(
    tmp_path: Path, server: RunningServer
) -> None:
    given = {"HWCI_WHEEL": f"{unused_url()}/no.whl", "TESTS": "touch ran"}
    bench = of_wrapper(ACTION, tmp_path, server.url, server.ci_key, **given)
    strict, _ = bench.run("hil", HWCI_STRICT="true")
    with Client(server.url, token=server.token) as client:
        wheel = client.send(calls.wheel()).at(server.url)
        away, out = bench.run("hil", HWCI_WHEEL=wheel, HELLO_CMD="test -e hello.ok")
        repo_key = bench.environ["HWCI_REPO_KEY"]
        newest = client.send(calls.list_runs(server.org_id, repo_key=repo_key)).items[0]

    assert (strict, away) == (1, 1), out
    assert not (bench.checkout / "ran").exists()
    assert newest.hello_ok is False


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_example_installs_from_the_server_and_pins_the_hash(system: str) -> None:
    used = {"github": [ACTION], "gitlab": [COMPONENT]}.get(system, [])
    files = [path for path in (EXAMPLES / system).rglob("*") if path.is_file()]
    texts = [path.read_text() for path in (*files, *used)]
    lines = [line for text in texts for line in text.splitlines()]
    pinned = re.compile(r"https://hwci\.example\.org/dist/0{12}/hwci-[\d.]+-\S+\.whl#sha256=0{64}")

    assert len([line for line in lines if pinned.search(line)]) == 1
    installs = [line for line in lines if re.search(r"pip install -|pipx run ", line)]
    assert installs
    assert all("WHEEL" in line for line in installs)
