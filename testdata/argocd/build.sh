#!/usr/bin/env bash
# Builds parts of Argo CD into the folder given as $1 (default: bin/ of the
# repository): those named after it, else all.
#
#   argosync   its own code that syncs an Application, as a command
#   argocd     the binary of all its servers
#   kustomize  which its repository server runs
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
wanted=" ${*:2} "
cd "$here"
export GOTOOLCHAIN=go1.27.3 # what Argo CD is built with

part() { [[ $wanted != *" $1 "* && ${wanted// /} ]] || build "$@" -ldflags '-s -w'; }

into "$bin"
part argosync . 8
part argocd github.com/argoproj/argo-cd/v3/cmd 11
part kustomize sigs.k8s.io/kustomize/kustomize/v5 1
