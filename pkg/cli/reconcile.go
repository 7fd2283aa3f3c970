package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/reconcile"
	"github.com/changeward/changeward/pkg/reconcile/publish"
	"github.com/changeward/changeward/pkg/reconcile/repo"
	"github.com/changeward/changeward/pkg/render"
)

// Reconcile is what to bring in line, and how far to go.
type Reconcile struct {
	Dir      string
	Change   string // the one to bring; "" is all of the scope that no outcome says Git has
	Scope    string // "" is that of the directory
	DryRun   bool   // write nothing
	NoCommit bool   // edit the files themselves
	Pull     bool   // open a pull request, or update it
	Forge    string // see publish.Options
}

// Reconcile brings a directory in line with direct changes. The edits are made
// and proved in a temporary checkout, and become a commit on a branch of their
// own; the caller's files stay as they are, unless NoCommit says otherwise.
func (s *Session) Reconcile(ctx context.Context, o Reconcile) (*render.Reconciled, error) {
	requests, err := s.directChanges(o)
	if err != nil {
		return nil, err
	}
	out := &render.Reconciled{Dir: o.Dir, Requests: requests, Result: &reconcile.Result{}}
	wanted, err := s.wants(ctx, out)
	switch {
	case err != nil || len(wanted) == 0:
		return out, err
	case !o.NoCommit:
		return out, s.committed(ctx, o, wanted, out)
	}
	if out.Result, err = reconcile.Bring(o.Dir, wanted); err != nil || o.DryRun {
		return out, err
	}
	out.Written = len(out.Result.Files) > 0
	return out, out.Result.Write()
}

// directChanges are the requests to bring in line, oldest first.
func (s *Session) directChanges(o Reconcile) ([]gate.Request, error) {
	if o.Change == "" {
		return reconcile.Unreconciled(s.Ledger.Requests(), cmp.Or(o.Scope, DefaultScope([]string{o.Dir}))), nil
	}
	request, err := s.Ledger.Find(o.Change)
	switch {
	case err != nil:
		return nil, err
	case request.Void != "":
		return nil, Fail(request.Void, fmt.Errorf("%s cannot be used: %s", request.ID, request.Detail))
	case !reconcile.Direct(request):
		return nil, Fail(ReasonNotDirect, fmt.Errorf("%s is %s: changeward itself has applied nothing of it", request.ID, request.Status),
			"only what was applied past Git is brought in line with it: `"+s.Streams.Program+" apply`")
	}
	return []gate.Request{request}, nil
}

// wants is what Git should have of the requests.
func (s *Session) wants(ctx context.Context, out *render.Reconciled) ([]reconcile.Wanted, error) {
	kinds, err := s.Client.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	reader := dryrun.Reader{Client: s.Client, Kinds: kinds}
	var wanted []reconcile.Wanted
	for _, request := range out.Requests {
		stored, _, _, err := s.Gate.Stored(ctx, request)
		if err != nil {
			return nil, err
		}
		more, reverted, err := reconcile.Wants(stored.Changes, func(b plan.Body) (map[string]any, error) { return liveObject(ctx, reader, b) })
		if err != nil {
			return nil, err
		}
		wanted, out.Reverted = append(wanted, more...), append(out.Reverted, reverted...)
	}
	return wanted, nil
}

// liveObject is the object of a change by now; nil where there is none.
func liveObject(ctx context.Context, reader dryrun.Reader, b plan.Body) (map[string]any, error) {
	object, failure := reader.ReadIn(ctx, b.Version, b.Key())
	switch {
	case failure == nil:
		return object, nil
	case failure.Reason == plan.ReasonNotFound, failure.Reason == plan.ReasonUnknownKind && b.Operation == plan.Delete:
		return nil, nil
	default:
		return nil, Fail(failure.Reason, fmt.Errorf("read %s: %w", b.Key(), errors.New(failure.Message)))
	}
}

// committed makes the edits in a checkout of HEAD, and a commit of them.
func (s *Session) committed(ctx context.Context, o Reconcile, wanted []reconcile.Wanted, out *render.Reconciled) (err error) {
	repository, err := repo.Open(ctx, o.Dir, append(os.Environ(), "HOME="+s.Streams.Env("HOME")))
	if err != nil {
		return err
	}
	if err := repository.Clean(ctx, repository.Dir); err != nil {
		return err
	}
	var target *publish.Target
	if o.Pull && !o.DryRun {
		if target, err = publish.Prepare(ctx, repository, publish.Options{Branch: out.Branch(), Forge: o.Forge, Getenv: s.Streams.Env,
			HTTP: &http.Client{Timeout: time.Minute}}); err != nil {
			return err
		}
	}
	checkout, err := repository.Checkout(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, checkout.Close(ctx)) }()
	if out.Result, err = reconcile.Bring(checkout.Dir, wanted); err != nil || o.DryRun || len(out.Result.Files) == 0 {
		return err
	}
	if err := out.Result.Write(); err != nil {
		return err
	}
	return s.commit(ctx, repository, checkout, target, out)
}

// commit commits what a checkout holds, to a local branch, or to that of a
// target.
func (s *Session) commit(ctx context.Context, repository *repo.Repo, checkout *repo.Checkout, target *publish.Target, out *render.Reconciled) error {
	message := commitMessage(out.Requests)
	commit, err := checkout.Commit(ctx, message)
	if err != nil || commit == nil {
		return err
	}
	if target != nil {
		out.Published, err = target.Publish(ctx, commit, message.Subject, s.pullBody(ctx, out))
		return err
	}
	state, err := repository.SetBranch(ctx, out.Branch(), commit)
	if err == nil {
		out.Commit, out.State = commit.Hash, state
	}
	return err
}

// commitMessage names the changes, and who let them pass.
func commitMessage(requests []gate.Request) repo.Message {
	var m repo.Message
	var reasons, tickets []string
	for _, r := range requests {
		m.Changes = append(m.Changes, r.ID)
		m.Approvers = appendNew(m.Approvers, r.ApprovedBy()...)
		reasons, tickets = appendNew(reasons, r.Header.Reason), appendNew(tickets, r.Header.Ticket)
	}
	m.Subject = "Bring Git in line with direct change " + m.Changes[0]
	if n := len(m.Changes); n > 1 {
		m.Subject = fmt.Sprintf("Bring Git in line with %d direct changes", n)
	}
	m.Reason, m.Ticket = strings.Join(reasons, "; "), strings.Join(tickets, ", ")
	return m
}

// appendNew appends what is not there yet, and not empty.
func appendNew(list []string, more ...string) []string {
	for _, text := range more {
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// pullBody is the text of a pull request: what is edited, and each plan.
func (s *Session) pullBody(ctx context.Context, out *render.Reconciled) string {
	body := "What was applied directly, past Git, and is in the cluster. Each edit was proved by rendering it again.\n\n" +
		render.Fence("", render.Style{}.Reconciled(out))
	for _, request := range out.Requests {
		view, err := s.StoredView(ctx, request)
		if err != nil || view == nil {
			continue // the commit names it
		}
		text := "\n" + render.Style{Program: s.Streams.Program}.Markdown(render.Comment{View: *view, Verdict: render.Style{}.Request(request)})
		if len(body)+len(text) > maxBody {
			body += "\n" + request.ID + ": `" + s.Streams.Program + " show " + request.ID + "` shows its plan.\n"
			continue
		}
		body += text
	}
	return body
}

// maxBody is what every forge takes as the text of a pull request, in bytes.
const maxBody = 60_000
