package argocd

import (
	"cmp"
	"encoding/json"
	"time"
)

// Applied is the one revision that Argo CD synced last and holds the cluster to
// be in step with, and when it last compared the two; a zero time: they are not
// in step, there are several revisions, or it does not say.
func Applied(application map[string]any) (revision string, at time.Time) {
	var w struct {
		Status struct {
			ReconciledAt time.Time `json:"reconciledAt"`
			Sync         struct {
				Status   string `json:"status"`
				Revision string `json:"revision"`
			} `json:"sync"`
			OperationState struct {
				Phase      string `json:"phase"`
				SyncResult struct {
					Revision string `json:"revision"`
				} `json:"syncResult"`
			} `json:"operationState"`
		} `json:"status"`
	}
	data, err := json.Marshal(application)
	if err != nil || json.Unmarshal(data, &w) != nil {
		return "", time.Time{}
	}
	s := w.Status
	if s.Sync.Status != "Synced" || s.Sync.Revision == "" {
		return cmp.Or(s.OperationState.SyncResult.Revision, s.Sync.Revision), time.Time{}
	}
	return s.Sync.Revision, s.ReconciledAt
}
