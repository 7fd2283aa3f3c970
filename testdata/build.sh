# For the build.sh of each module of testdata, which sources it. Outputs are
# kept in ${XDG_CACHE_HOME:-~/.cache}/changeward, by a key over the module's
# files, its build.sh, what it is built with, and the Go version, so that a
# fresh clone does not build them again.

# folder NAME: makes it, and prints its full path
folder() { mkdir -p "$1" && (cd "$1" && pwd); }

sum() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }

# into FOLDER KEY...: where outputs go, and what the key is over beside files;
# in the module's folder
into() {
  out=$1
  local key
  key=$({
    find . -name bin -prune -o \( -name go.mod -o -name go.sum -o -name build.sh -o -name '*.go' \) -print | LC_ALL=C sort | xargs cat
    go env GOVERSION GOOS GOARCH
    echo "${@:2}"
  } | sum | cut -c1-16)
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/changeward/$key
}

# build NAME PACKAGE MINUTES FLAG...: unless the cache has it; then place it
build() {
  local name=$1 package=$2 minutes=$3
  if [[ ! -x $cache/$name ]]; then
    echo "building bin/$name (the first time takes about $minutes minutes)" >&2
    mkdir -p "$cache"
    go build -buildvcs=false -o "$cache/.$name.$$" "${@:4}" "$package"
    mv -f "$cache/.$name.$$" "$cache/$name"
  fi
  place "$name"
}

# place NAME: from the cache to where outputs go, as a hard link, or a copy where
# the cache is on another disk
place() {
  local name=$1
  [[ $out/$name -ef $cache/$name ]] && return
  ln "$cache/$name" "$out/.$name.$$" 2>/dev/null || cp "$cache/$name" "$out/.$name.$$"
  mv -f "$out/.$name.$$" "$out/$name"
}
