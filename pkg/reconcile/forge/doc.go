// Package forge opens pull requests on GitHub, GitLab and Gitea (Forgejo, too),
// hosted by these or by oneself.
//
// Enter at Detect with a remote's URL: it says which forge that is, and finds
// its token. New is then a client for that repository: Find the pull request of
// a branch, Open one, Update it. Errors are a *fault.Error where the forge does
// not answer, does not let the token, or refuses.
package forge
