// Package repo makes commits in a person's Git repository with their own git:
// their identity, hooks, signing, filters and credentials, without touching
// their checkout.
//
// Enter at Open with a folder of a work tree. Clean then refuses changes that
// HEAD does not have; Checkout is a temporary work tree of HEAD, in which files
// are edited, rendered and proved; its Commit makes a commit that is on no
// branch yet. SetBranch puts it on a local branch; Remote, Fetch and Push on
// that of a remote. A branch is written only where nothing but untouched
// commits of changeward's own would be replaced, and only if it has not moved
// since it was looked at.
//
// Errors are a *fault.Error wherever a person can do something.
package repo
