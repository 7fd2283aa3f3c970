package render

import (
	"fmt"
	"path/filepath"

	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/reconcile"
	"github.com/changeward/changeward/pkg/reconcile/publish"
	"github.com/changeward/changeward/pkg/reconcile/repo"
)

// KindReconcileResult is the kind of what reconcile answers.
const KindReconcileResult = "ReconcileResult"

// Reconciled is what bringing a directory in line came to.
type Reconciled struct {
	Dir      string // as named
	Requests []gate.Request
	Result   *reconcile.Result
	Reverted []reconcile.Edit
	Written  bool // the files are edited
	// Commit is one on a local branch, State what became of that; Published one
	// that was pushed.
	Commit    string
	State     repo.State
	Published *publish.Result
}

// Branch is the one for the edits: that of the oldest change, which stays the
// oldest until Git has it, whatever changes come after it.
func (r *Reconciled) Branch() string { return publish.BranchPrefix + r.Requests[0].ID }

// ReconcileResult answers `reconcile -o json`. Files are relative to dir.
type ReconcileResult struct {
	Type
	Dir      string             `json:"dir"`
	Changes  []ChangeRef        `json:"changes"`
	Written  bool               `json:"written"`
	Files    []ReconciledFile   `json:"files"`
	Edits    []ReconciledField  `json:"edits"`
	Already  []ReconciledField  `json:"already"`  // Git has it
	Reverted []ReconciledField  `json:"reverted"` // the cluster no longer has it
	Refused  []ReconcileRefusal `json:"refused"`
	Commit   *ReconcileCommit   `json:"commit"` // null: there is none
}

// ReconcileCommit is where the edits are.
type ReconcileCommit struct {
	Hash   string `json:"hash"`
	Branch string `json:"branch"`
	State  string `json:"state"`          // created, updated, unchanged
	Pushed bool   `json:"pushed"`         // the branch is that of the remote
	Base   string `json:"base,omitempty"` // the branch to merge it into
	Pull   string `json:"pull,omitempty"` // URL of the pull request
	Opened bool   `json:"opened,omitempty"`
}

// ReconciledFile is a file that is edited, created or deleted.
type ReconciledFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // edit, create, delete
}

// ReconciledField is a field, or an object as a whole.
type ReconciledField struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Field     string `json:"field,omitempty"`
	File      string `json:"file,omitempty"`
	How       string `json:"how,omitempty"`
}

// ReconcileRefusal is what cannot be brought in line, and why.
type ReconcileRefusal struct {
	ReconciledField
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// ReconcileDocument is the JSON form of a reconciliation.
func ReconcileDocument(r *Reconciled) ReconcileResult {
	document := ReconcileResult{Type: Head(KindReconcileResult), Dir: r.Dir, Changes: []ChangeRef{}, Written: r.Written, Files: []ReconciledFile{},
		Edits: r.fields(r.Result.Edits), Already: r.fields(r.Result.Already), Reverted: r.fields(r.Reverted), Refused: []ReconcileRefusal{}}
	for _, request := range r.Requests {
		document.Changes = append(document.Changes, ChangeRef{ID: request.ID, Number: request.Number, Status: string(request.Status)})
	}
	for _, file := range r.Result.Files {
		document.Files = append(document.Files, ReconciledFile{Path: r.relative(file.Path), Action: fileAction(file)})
	}
	for _, refusal := range r.Result.Refused {
		field := r.fields([]reconcile.Edit{{Key: refusal.Key, Field: refusal.Field}})[0]
		document.Refused = append(document.Refused, ReconcileRefusal{ReconciledField: field, Reason: refusal.Reason, Message: refusal.Message, Hint: refusal.Hint})
	}
	document.Commit = r.commit()
	return document
}

func (r *Reconciled) commit() *ReconcileCommit {
	switch p := r.Published; {
	case p != nil:
		c := &ReconcileCommit{Hash: p.Commit, Branch: p.Branch, State: string(p.State), Pushed: true, Base: p.Base, Opened: p.Opened}
		if p.Pull != nil {
			c.Pull = p.Pull.URL
		}
		return c
	case r.Commit != "":
		return &ReconcileCommit{Hash: r.Commit, Branch: r.Branch(), State: string(r.State)}
	default:
		return nil
	}
}

func (r *Reconciled) fields(edits []reconcile.Edit) []ReconciledField {
	fields := []ReconciledField{}
	for _, e := range edits {
		fields = append(fields, ReconciledField{Group: e.Key.Group, Kind: e.Key.Kind, Namespace: e.Key.Namespace, Name: e.Key.Name,
			Field: e.Field, File: r.relative(e.File), How: e.How})
	}
	return fields
}

// relative is a path as seen from the directory.
func (r *Reconciled) relative(path string) string {
	if rest, err := filepath.Rel(r.Result.Dir, path); err == nil && filepath.IsLocal(rest) {
		return filepath.ToSlash(rest)
	}
	return path
}

func fileAction(file reconcile.File) string {
	switch {
	case file.Before == nil:
		return "create"
	case file.After == nil:
		return "delete"
	default:
		return "edit"
	}
}

// Reconciled is a reconciliation as text: what sets each field now, and in
// which file. It shows no values, since those of Secrets may stand beside them.
func (s Style) Reconciled(r *Reconciled) string {
	l := &lines{style: s}
	if len(r.Requests) == 0 {
		l.line(plain, "no direct change of this scope is waiting for Git")
		return l.out.String()
	}
	for _, request := range r.Requests {
		l.line(plain, Escape(fmt.Sprintf("change %s (#%d): %s", request.ID, request.Number, request.Status)))
	}
	signs := map[string]string{"edit": "~ ", "create": "+ ", "delete": "- "}
	colours := map[string]string{"edit": yellow, "create": green, "delete": red}
	for _, file := range r.Result.Files {
		action := fileAction(file)
		l.line(colours[action], Escape(signs[action]+r.relative(file.Path)+" ("+action+")"))
		for _, e := range r.Result.Edits {
			if e.File == file.Path {
				l.line(plain, "     "+Escape(editText(e)+", in "+e.How))
			}
		}
	}
	for _, e := range r.Result.Already {
		l.line(faint, "= "+Escape(editText(e)+": Git has it already"))
	}
	for _, e := range r.Reverted {
		l.line(faint, "= "+Escape(editText(e)+": the cluster no longer has it so; left alone"))
	}
	for _, refusal := range r.Result.Refused {
		l.line(red, Escape("! "+refusal.Error()))
	}
	l.reached(r)
	return l.out.String()
}

// reached is how far it went.
func (l *lines) reached(r *Reconciled) {
	n, c := len(r.Result.Files), r.commit()
	switch {
	case n == 0:
		l.line(plain, "nothing is left to edit")
	case r.Written:
		l.line(green, count(n, "file", "files")+" written; each edit was proved by rendering again")
	case c == nil:
		l.line(plain, count(n, "file", "files")+" to write; each edit was proved by rendering again")
	case !c.Pushed:
		l.line(green, Escape("branch "+c.Branch+" "+c.State+": look at it with `git show "+c.Branch+"`"))
	case c.Pull != "":
		verb := map[bool]string{true: "opened", false: "updated"}[c.Opened]
		l.line(green, Escape("pull request "+verb+": "+c.Pull))
	default:
		l.line(green, Escape("branch "+c.Branch+" pushed: open a pull request from it to "+c.Base))
	}
}

func editText(e reconcile.Edit) string {
	if e.Field == "" {
		return e.Key.String()
	}
	return e.Key.String() + " " + e.Field
}
