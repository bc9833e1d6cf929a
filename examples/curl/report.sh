#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sends the bodies beside this file. HWCI_URL is the server, HWCI_CI_KEY the key: the reports stay in
# the organization of the key, as the repository example/curl and the box curl-example.
set -eu
: "${HWCI_URL:?the address of the server, such as http://127.0.0.1:8080}"
: "${HWCI_CI_KEY:?a CI key: hwci keys create NAME}"
here=$(dirname "$0")
answer=${HWCI_ANSWER:-/dev/null}
echo "Reporting to $HWCI_URL, into the organization of HWCI_CI_KEY." >&2

# send METHOD PATH BODY: prints the status. `printf` is the shell's own, so that the key never
# stands among the arguments of a process.
send() {
    status=$(printf 'X-API-Key: %s\n' "$HWCI_CI_KEY" |
        curl --silent --show-error --max-time 30 --header @- \
            --header 'Content-Type: application/json' \
            --request "$1" --data-binary "@$here/$3" \
            --output "$answer" --write-out '%{http_code}' "$HWCI_URL$2")
    printf '%-4s %-23s %s\n' "$1" "$2" "$status"
}

# expect STATUS: the build fails when the last answer was another one.
expect() {
    [ "$status" = "$1" ] || { echo "expected $1" >&2; exit 1; }
}

send PUT /api/ci/suite-config suite-config.json
expect 204
send POST /api/ci/merge-announce merge-announce.json
expect 204
send POST /api/ci/run-report run-report.json
expect 204
send POST /api/ci/run-report run-report-broken.json
expect 400
