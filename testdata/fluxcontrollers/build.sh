#!/usr/bin/env bash
# Builds source-controller and kustomize-controller into the folder given as $1
# (default: bin/ of the repository), with their definitions beside them in
# fluxcrds.yaml.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
cd "$here"

into "$bin"
flux=github.com/fluxcd
build kustomize-controller "$flux/kustomize-controller" 4 -ldflags '-s -w'
build source-controller "$flux/source-controller" 4 -ldflags '-s -w'

if [[ ! -s $cache/fluxcrds.yaml ]]; then
  go mod download "$flux/kustomize-controller" "$flux/source-controller"
  for module in kustomize-controller source-controller; do
    dir=$(go list -m -f '{{.Dir}}' "$flux/$module")
    for file in "$dir"/config/crd/bases/*.yaml; do
      echo '---' && cat "$file"
    done
  done >"$cache/.fluxcrds.$$"
  mv -f "$cache/.fluxcrds.$$" "$cache/fluxcrds.yaml"
fi
place fluxcrds.yaml
