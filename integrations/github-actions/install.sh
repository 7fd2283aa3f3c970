#!/usr/bin/env bash
# Puts kubectl-changeward on the PATH of the steps that follow, if its archive
# has the digest that it should have.
set -euo pipefail

version=${CHANGEWARD_VERSION#v}
case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) echo "::error::no release for $(uname -s)"; exit 1 ;; esac
case $(uname -m) in x86_64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) echo "::error::no release for $(uname -m)"; exit 1 ;; esac
archive=kubectl-changeward_${version}_${os}_${arch}.tar.gz
from=${CHANGEWARD_RELEASES:-https://github.com/changeward/changeward/releases/download}/v$version
folder=$RUNNER_TEMP/changeward-$version
mkdir -p "$folder"
cd "$folder"

curl -fsSL --retry 3 -o "$archive" "$from/$archive"
if [[ -n ${CHANGEWARD_SHA256:-} ]]; then
  echo "$CHANGEWARD_SHA256  $archive" >expected
else
  curl -fsSL --retry 3 "$from/kubectl-changeward_${version}_checksums.txt" | grep -F "  $archive" >expected || true
fi
if ! shasum -a 256 -c expected >/dev/null 2>&1; then
  rm -f "$archive"
  echo "::error::$archive does not have the digest that it should have: nothing is installed"
  exit 1
fi
tar -xzf "$archive" kubectl-changeward
echo "$folder" >>"$GITHUB_PATH"
