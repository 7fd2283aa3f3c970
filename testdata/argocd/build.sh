#!/usr/bin/env bash
# Builds argosync into the folder given as $1 (default: bin/ of the repository).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
cd "$here"
export GOTOOLCHAIN=go1.27.3 # what Argo CD is built with

into "$bin"
build argosync . 8 -ldflags '-s -w'
