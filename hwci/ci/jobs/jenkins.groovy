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
                                        withEnv(commit.collect { name, value -> "${name}=${value}" }) {
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
