#!/usr/bin/env bash
# Builds controlplane and kubectl into the folder given as $1 (default: bin/ of
# the repository).
#
#   KUBEBUILDER_ASSETS  a folder with etcd and kube-apiserver: those are run by
#                       `controlplane up`, and not linked here
#   CONTROLLERS=0       leave kube-controller-manager out
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
cd "$here"
version=v1.37.2

tags=()
assets=${KUBEBUILDER_ASSETS:-}
if [[ -n $assets && -f $assets/etcd && -f $assets/kube-apiserver ]]; then tags+=(noserver); fi
if [[ ${CONTROLLERS:-1} == 0 ]]; then tags+=(nocontrollers); fi
tags=$(IFS=,; echo "${tags[*]-}")

x="k8s.io/component-base/version"
flags=(-tags "$tags" -ldflags "-s -w -X $x.gitVersion=$version -X $x.gitMajor=1 -X $x.gitMinor=37 -X $x.gitTreeState=clean")
into "$bin" "$tags"
build controlplane . 10 "${flags[@]}"
build kubectl ./kubectl 1 "${flags[@]}"
