// Package release installs from what `make snapshot` packed, offline, as people
// do: by unpacking, by krew, by the entry of Flux's plugin catalogue.
package release
