#!/usr/bin/env bash
# Builds krew, which installs kubectl plugins, into the folder given as $1
# (default: bin/ of the repository).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
cd "$here"
export CGO_ENABLED=0

into "$bin"
build krew sigs.k8s.io/krew/cmd/krew 1 -ldflags '-s -w -X sigs.k8s.io/krew/internal/version.gitTag=v0.4.3'
