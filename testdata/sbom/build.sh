#!/usr/bin/env bash
# Builds cyclonedx-gomod, which lists what a binary holds, into the folder given as $1
# (default: bin/ of the repository).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
cd "$here"
export CGO_ENABLED=0

into "$bin"
build cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod 2 -ldflags '-s -w'
