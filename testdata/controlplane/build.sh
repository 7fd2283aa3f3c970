#!/usr/bin/env bash
# Builds controlplane and kubectl into the folder given as $1 (default: bin/ of
# the repository). Outputs are kept in ${XDG_CACHE_HOME:-~/.cache}/changeward,
# by a key over this module's files, the build tags and the Go version, so that
# a fresh clone does not build them again.
#
#   KUBEBUILDER_ASSETS  a folder with etcd and kube-apiserver: those are run by
#                       `controlplane up`, and not linked here
#   CONTROLLERS=0       leave kube-controller-manager out
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-$here/../../bin}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"
version=v1.37.2

tags=()
assets=${KUBEBUILDER_ASSETS:-}
if [[ -n $assets && -f $assets/etcd && -f $assets/kube-apiserver ]]; then tags+=(noserver); fi
if [[ ${CONTROLLERS:-1} == 0 ]]; then tags+=(nocontrollers); fi
tags=$(IFS=,; echo "${tags[*]-}")

sum() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
key=$({ cat go.mod go.sum build.sh ./*.go kubectl/*.go; go env GOVERSION GOOS GOARCH; echo "$tags"; } | sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/changeward/$key

build() { # name package
  [[ -x $cache/$1 ]] && return
  echo "building bin/$1 (the first time takes about 10 minutes)" >&2
  mkdir -p "$cache"
  local new=$cache/.$1.$$ x="k8s.io/component-base/version"
  go build -buildvcs=false -tags "$tags" -o "$new" \
    -ldflags "-s -w -X $x.gitVersion=$version -X $x.gitMajor=1 -X $x.gitMinor=37 -X $x.gitTreeState=clean" "$2"
  mv -f "$new" "$cache/$1"
}

place() { # name: a hard link, or a copy where the cache is on another disk
  [[ $out/$1 -ef $cache/$1 ]] && return
  local new=$out/.$1.$$
  ln "$cache/$1" "$new" 2>/dev/null || cp "$cache/$1" "$new"
  mv -f "$new" "$out/$1"
}

build controlplane .
build kubectl ./kubectl
place controlplane
place kubectl
