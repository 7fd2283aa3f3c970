package dryrun

import (
	"context"
	"errors"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/state"
)

// credentialID is where the API server names the credential of a request: the
// serial of a certificate, the id of a token.
const credentialID = "authentication.kubernetes.io/credential-id"

// AuthorExtra is the extra of a user under which an API server that takes the
// tokens of a forge passes on who started the run: claim mappings of its
// authentication configuration put it there.
const AuthorExtra = "changeward.dev/author"

// Caller is who is asking, as the API server knows them.
type Caller struct {
	state.Person        // groups in the server's order
	Credential   string // id of the credential in use; "" where the server names none
	Author       string // see AuthorExtra; "" where the server names none
}

// Whoami asks the API server who is asking. The error is an *Error with its
// reason.
func (c *Client) Whoami(ctx context.Context) (Caller, error) {
	review, err := c.reviews.SelfSubjectReviews().Create(ctx, &authentication.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return Caller{}, wrap("ask the server who the caller is", err)
	}
	user := review.Status.UserInfo
	if user.Username == "" { // what is decided rests on who is asking
		return Caller{}, wrap("ask the server who the caller is", errors.New("the answer names nobody"))
	}
	return Caller{Person: state.Person{Username: user.Username, Groups: user.Groups},
		Credential: strings.Join(user.Extra[credentialID], ","), Author: strings.Join(user.Extra[AuthorExtra], ",")}, nil
}
