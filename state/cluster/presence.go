package cluster

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// presence is what is known of the namespace, so that lists that are read side
// by side and come back empty ask for it once.
type presence struct {
	mutex sync.Mutex
	there bool  // or the caller may not know
	asked int   // how often it was missing
	last  error // the server's answer then
}

func (p *presence) missed() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.asked
}

// missingNamespace gives the server's "not found" for the namespace itself,
// nil if it exists or the caller may not know. An answer to a question that was
// asked since missed was read will do.
func (s *Store) missingNamespace(ctx context.Context, missed int) error {
	p := &s.presence
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch {
	case p.there:
		return nil
	case p.asked > missed:
		return p.last
	}
	_, err := s.client.CoreV1().Namespaces().Get(ctx, Namespace, metav1.GetOptions{})
	switch {
	case err == nil, apierrors.IsForbidden(err):
		p.there = true
		return nil
	case apierrors.IsNotFound(err):
		p.asked, p.last = p.asked+1, err
	}
	return err
}
