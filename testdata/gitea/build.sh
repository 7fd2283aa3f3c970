#!/usr/bin/env bash
# Builds gitea into the folder given as $1 (default: bin/ of the repository),
# and beside it gitea-static, the templates and options that it reads.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../build.sh"
bin=$(folder "${1:-$here/../../bin}")
cd "$here"
export CGO_ENABLED=1 # its SQLite is C

into "$bin"
build gitea code.gitea.io/gitea 7 -tags 'sqlite sqlite_unlock_notify' -ldflags '-s -w -X main.Version=1.26.0'

# Kept with the binary: the module's own folder may be gone when that comes
# from the cache.
if [[ ! -d $cache/gitea-static ]]; then
  module=$(go mod download -json code.gitea.io/gitea | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  rm -rf "$cache/.static.$$" && mkdir "$cache/.static.$$"
  cp -R "$module/templates" "$module/options" "$module/public" "$cache/.static.$$"
  chmod -R u+w "$cache/.static.$$"
  mv "$cache/.static.$$" "$cache/gitea-static"
fi
ln -sfn "$cache/gitea-static" "$bin/gitea-static"
