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
                        beforeAgent true
                        expression { trigger() == 'merge' }
                    }
                    agent { label '!bench-1' }
                    steps {
                        catchError(buildResult: 'SUCCESS') {
                            sh '{install} "$HWCI_WHEEL"'
                            sh '{hwci} merge-announce'
                        }
                    }
                }
                stage('HIL') {
                    agent { label 'bench-1' } // {box} node
                    steps {
                        sh '{install} "$HWCI_WHEEL"'
                        // {needs}
                        sh '{hwci} exec {tests}'
                    }
                }
            }
        }
    }
}
