# HWCI_CI_KEY is a secret of the CI. In a job that needs no hardware, on each push:
export HWCI_URL={url} HWCI_WHEEL="{wheel}"
{install} && {hwci} merge-announce || echo "The merge is not announced." >&2
# in the job at the bench:
export HWCI_URL={url} HWCI_WHEEL="{wheel}" HWCI_BOX=bench-1
{install_or_go_on}
# {needs}
{tests}
