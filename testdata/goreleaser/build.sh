#!/usr/bin/env bash
# Builds goreleaser, which packs releases, into the folder given as $1 (default:
# bin/ of the repository).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
cd "$here"
export GOTOOLCHAIN=go1.27.3 # goreleaser asks for 1.27
export CGO_ENABLED=0

into "$bin"
build goreleaser github.com/goreleaser/goreleaser/v2 10 -ldflags '-s -w'
