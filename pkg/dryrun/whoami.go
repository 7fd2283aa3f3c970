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

// Whoami is the caller as the API server knows them, groups in its order, and
// the id of the credential in use, "" where the server names none. The error
// is an *Error with its reason.
func (c *Client) Whoami(ctx context.Context) (state.Person, string, error) {
	review, err := c.reviews.SelfSubjectReviews().Create(ctx, &authentication.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return state.Person{}, "", wrap("ask the server who the caller is", err)
	}
	user := review.Status.UserInfo
	if user.Username == "" { // what is decided rests on who is asking
		return state.Person{}, "", wrap("ask the server who the caller is", errors.New("the answer names nobody"))
	}
	return state.Person{Username: user.Username, Groups: user.Groups},
		strings.Join(user.Extra[credentialID], ","), nil
}
