# SPDX-License-Identifier: Apache-2.0
"""Jenkins. Its build numbers count per job, so the run id is made of job, number and stage: two
stages may test on one box. No variable has the trigger of a build; `HWCI_TRIGGER` sets it. A pull
request that is built merged with its target is of a commit that each checkout makes again.
"""

from urllib.parse import quote

from hwci.ci.fields import RUN_ID
from hwci.ci.job import Sourced, hashed_run_id
from hwci.ci.systems.system import (
    PULLS,
    TAGS,
    JobEnvironment,
    PrintedJob,
    System,
    always,
    commit,
    is_not,
    is_set,
    merge_or_manual,
    slug,
    variable,
    where,
    without,
)
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Trigger


def _workflow(env: JobEnvironment) -> Sourced[str] | None:
    """Return the job; that of a multibranch job is the same on each of its branches."""
    job, branch = env.text("JOB_NAME"), env.text("BRANCH_NAME")
    ends = (f"/{branch}", f"/{quote(branch, safe='')}") if branch else ()
    end = next((end for end in ends if job.endswith(end)), "")
    name = job.removesuffix(end)
    return Sourced(name, "JOB_NAME") if name else None


def _run_id(env: JobEnvironment) -> Sourced[int] | None:
    job, number = env.text("JOB_NAME"), env.text("BUILD_NUMBER")
    if not (job and number):
        return None
    if stage := env.text("STAGE_NAME"):
        words, source = f"{job}#{number}/{stage}", "JOB_NAME, BUILD_NUMBER and STAGE_NAME"
    else:
        words, source = f"{job}#{number}", "JOB_NAME and BUILD_NUMBER"
    return Sourced(hashed_run_id(words), source)


def _fork_branch(env: JobEnvironment) -> Sourced[str] | None:
    """A branch of a fork bears the fork's name: its `main` is not ours."""
    fork, branch = env.text("CHANGE_FORK"), env.text("CHANGE_BRANCH")
    return Sourced(f"{fork.partition('/')[0]}:{branch}", "CHANGE_FORK") if fork and branch else None


def _is_primary(env: JobEnvironment) -> bool:
    """A multibranch job knows the default branch; builds of other branches do not learn it."""
    return env.text("BRANCH_IS_PRIMARY").lower() == "true"


_PULLS = ("CHANGE_ID", "gitlabMergeRequestIid", "ghprbPullId", "BITBUCKET_PULL_REQUEST_ID")
"""Variables of pull requests: of multibranch jobs, and of plugins for jobs of one branch."""
_PULL_BRANCHES = (
    *("CHANGE_BRANCH", "gitlabSourceBranch", "ghprbSourceBranch", "BITBUCKET_SOURCE_BRANCH"),
)
_SUBMITTED_TO = (
    variable("GERRIT_BRANCH"),
    variable("GERRIT_REFNAME", without("refs/heads/", "refs/tags/")),
)
_is_submitted = is_set("GERRIT_EVENT_TYPE", "change-merged", "ref-updated")
"""What Gerrit's trigger starts after a change was merged; before, it is of a patch set."""


def _is_tag_of_gerrit(env: JobEnvironment) -> bool:
    return _is_submitted(env) and env.text("GERRIT_REFNAME").startswith("refs/tags/")


def _submitted(env: JobEnvironment) -> Sourced[Trigger]:
    """Return what a submitted change is. A revision of zeros says that a branch was removed."""
    removed = env.text("GERRIT_NEWREV").strip("0") == "" != env.text("GERRIT_NEWREV")
    trigger = Trigger.MANUAL if removed else merge_or_manual(Trigger.MERGE, _SUBMITTED_TO, env)
    return Sourced(trigger, "GERRIT_EVENT_TYPE")


def _is_patch_set(env: JobEnvironment) -> bool:
    return bool(env.text("GERRIT_REFSPEC")) and not _is_submitted(env)


_JOB = """\
// Jenkinsfile of a multibranch pipeline; hwci-ci-key is a credential of the kind "secret text"

// Jenkins has no variable for the trigger of a build.
def trigger() {
    if (currentBuild.getBuildCauses('hudson.triggers.TimerTrigger$TimerTriggerCause')) {
        return 'nightly'
    }
    if (currentBuild.getBuildCauses('hudson.model.Cause$UserIdCause') || env.CHANGE_ID) {
        return 'manual'
    }
    return env.BRANCH_IS_PRIMARY == 'true' ? 'merge' : 'manual'
}

pipeline {
    agent none
    environment {
        HWCI_URL = '{url}'
        HWCI_WHEEL = '{wheel}'
        HWCI_CI_KEY = credentials('hwci-ci-key')
        HWCI_TRIGGER = trigger()
    }
    stages {
        stage('Push') {
            parallel {
                stage('Announce') {
                    when {
                        expression { trigger() == 'merge' }
                    }
                    steps {
                        script {
                            try {
                                timeout(time: 10, unit: 'MINUTES') { // also the wait for a node
                                    node('!bench-1') {
                                        def commit = checkout(scm)
                                        withEnv(commit.collect { name, value -> \
"${name}=${value}" }) {
                                            sh '{install}'
                                            sh '{hwci} merge-announce'
                                        }
                                    }
                                }
                            } catch (fault) {
                                echo "The merge is not announced: ${fault}"
                            }
                        }
                    }
                }
                stage('HIL') {
                    options { timeout(time: 24, unit: 'HOURS') } // also the wait for the bench
                    agent { label 'bench-1' } // {box} node
                    steps {
                        sh '''
                            {install_or_go_on}
                        '''
                        // {needs}
                        sh '''
                            {tests}
                        '''
                    }
                }
            }
        }
    }
}
"""


SYSTEM = System(
    name=CiSystem.JENKINS,
    title="Jenkins",
    variable="JENKINS_URL",
    merger="nobody@nowhere",
    readers={
        "repo_key": (variable("GIT_URL", slug),),
        "workflow": (_workflow,),
        "run_id": (_run_id,),
        "ci_run": (variable("BUILD_NUMBER", RUN_ID),),
        "run_attempt": (always(1),),
        "sha": (
            where(_is_submitted, variable("GERRIT_NEWREV", commit)),
            where(_is_patch_set, variable("GERRIT_PATCHSET_REVISION", commit)),
            variable("GIT_COMMIT", commit),
        ),
        "branch": (
            where(_is_submitted, *_SUBMITTED_TO),
            variable("GERRIT_REFSPEC", without("refs/")),
            _fork_branch,
            *(variable(name) for name in _PULL_BRANCHES),
            variable("BRANCH_NAME"),
            variable("GIT_BRANCH", without("refs/remotes/origin/", "refs/heads/", "origin/")),
        ),
        "kind": (
            where(is_not("TAG_NAME", ""), always(TAGS)),
            where(_is_tag_of_gerrit, always(TAGS)),
            *(where(is_not(name, ""), always(PULLS)) for name in _PULLS),
        ),
        "trigger": (
            *(where(is_not(name, ""), always(Trigger.MANUAL, name)) for name in _PULLS),
            where(_is_submitted, _submitted),
            where(is_not("GERRIT_REFSPEC", ""), always(Trigger.MANUAL, "GERRIT_REFSPEC")),
        ),
        "box_key": (variable("NODE_NAME"),),
        "ci_url": (variable("BUILD_URL"),),
        "default_branch": (where(_is_primary, variable("BRANCH_NAME")),),
        "before_sha": (variable("GIT_PREVIOUS_COMMIT", commit),),
        "previous_sha": (variable("GIT_PREVIOUS_COMMIT", commit),),
        "succeeded_sha": (variable("GIT_PREVIOUS_SUCCESSFUL_COMMIT", commit),),
    },
    job=PrintedJob("Jenkinsfile", _JOB),
    guide={
        "run_id": "from job, build number and stage",
        "run_attempt": "1",
        "box_key": "node",
        "ci_url": "of the build",
    },
)
