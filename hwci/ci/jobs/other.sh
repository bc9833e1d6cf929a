# HWCI_CI_KEY is a secret of the CI. In a job that needs no hardware, on each push:
export HWCI_URL={url}
{install} "{wheel}"
{hwci} merge-announce
# in the job at the bench:
export HWCI_URL={url}
{install} "{wheel}"
# {needs}
{hwci} exec --box bench-1 {tests}
