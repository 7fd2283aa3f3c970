// Package diff says in which fields two forms of one object differ. It is
// pure: decoded JSON in, transitions out, Secret values masked before they
// come here.
//
// Enter at Clean, which takes away what no applier decides, then Objects,
// which compares LIVE and MERGED of one object by the server's own list kinds.
// Equal is the equality both rest on; Hunks compares two texts line by line,
// for display; ParsePath reads a transition's path back.
package diff
