// Package manifest reads desired objects and says which object each of them
// is. It is pure: bytes in, values out; manifest/files reads files,
// directories, standard input and kustomizations.
//
// The order of steps: Parse splits a file into documents, reads each as
// kubectl would send it, unfolds lists, and refuses what cannot be an object;
// Resolve strips what an export from a cluster carries, fills namespaces, and
// refuses unknown kinds and two objects of one identity. Hook and Control read
// the annotations that steer appliers. A Masker then replaces the values of
// Secrets, and Redact the texts that may repeat them: past it, no Secret value
// exists.
//
// Nothing is lost silently: what Parse does not return, a Problem names.
package manifest
