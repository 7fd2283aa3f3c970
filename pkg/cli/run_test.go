package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/render"
	"github.com/changeward/changeward/pkg/sign"
	"github.com/changeward/changeward/state"
)

// console is what a test types into and reads from.
type console struct {
	Streams
	out, err bytes.Buffer
}

func newConsole(env map[string]string, input string) *console {
	c := &console{}
	c.Streams = Streams{In: strings.NewReader(input), Out: &c.out, ErrOut: &c.err, Program: "kubectl changeward",
		Env: func(name string) string { return env[name] }}
	return c
}

// fails is a root with one verb that fails as told.
func (c *console) fails(err error) *cobra.Command {
	root := NewRoot("kubectl-changeward", c.Streams)
	var output OutputFlag
	var out string
	verb := &cobra.Command{Use: "verb", RunE: func(*cobra.Command, []string) error { return err }}
	output.AddFlag(verb)
	AddOutFlag(verb, &out)
	root.AddCommand(verb)
	return root
}

func TestExitCodesAndReasonsOfErrors(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "x", errors.New("no"))
	for name, c := range map[string]struct {
		err    error
		code   int
		reason string
		hint   string
	}{
		"success":          {nil, 0, "", ""},
		"a plain error":    {errors.New("broken"), 1, ReasonFailed, ""},
		"usage":            {Usage("what?"), 1, ReasonUsage, ""},
		"approval":         {&Failure{Code: ExitApprovalRequired, Reason: ReasonApprovalRequired, Err: errors.New("approval required")}, 2, ReasonApprovalRequired, ""},
		"findings":         {&Failure{Code: ExitFindings, Reason: ReasonFindings, Err: errors.New("faults")}, 3, ReasonFindings, ""},
		"denied":           {fmt.Errorf("gate: %w", &Failure{Code: ExitDenied, Reason: ReasonDenied, Err: errors.New("no")}), 4, ReasonDenied, ""},
		"no install":       {fmt.Errorf("list: %w", state.ErrNoStore), 1, ReasonNoInstall, "kubectl changeward install"},
		"forbidden record": {fmt.Errorf("list: %w", state.ErrForbidden), 1, ReasonForbidden, "kubectl changeward policy show"},
		"forbidden":        {forbidden, 1, ReasonForbidden, "policy show"},
		"credentials":      {&dryrun.Error{Reason: dryrun.Unauthorized, Doing: "ask", Err: apierrors.NewUnauthorized("expired")}, 1, ReasonUnauthorized, "log in again"},
		"unreachable":      {&dryrun.Error{Reason: dryrun.Unreachable, Doing: "ask", Err: &url.Error{Op: "Get", URL: "https://x", Err: errors.New("refused")}}, 1, ReasonUnreachable, "cluster-info"},
		"no key":           {sign.ErrNoKey, 1, ReasonNoKey, "signer create"},
		"ambiguous id":     {&gate.Fault{Reason: gate.ReasonAmbiguous, Message: "c_1 fits two"}, 1, gate.ReasonAmbiguous, "list"},
		"void decision":    {&gate.Fault{Reason: approval.NotInGroup, Message: "alice is not asked"}, 1, approval.NotInGroup, "policy show"},
		"deadline":         {context.DeadlineExceeded, 1, ReasonTimeout, ""},
	} {
		t.Run(name, func(t *testing.T) {
			console := newConsole(nil, "")
			code := Run(context.Background(), console.fails(c.err), []string{"verb", "-o", "json"}, console.Streams)
			assert.Equal(t, code, c.code)
			if c.err == nil {
				assert.Equal(t, console.err.String(), "")
				return
			}
			var document render.Error
			assert.NilError(t, json.Unmarshal(console.out.Bytes(), &document))
			assert.Equal(t, document.Reason, c.reason)
			assert.Equal(t, document.ExitCode, c.code)
			assert.Assert(t, strings.HasPrefix(console.err.String(), "error: "), console.err.String())
			assert.Assert(t, strings.Contains(console.err.String(), c.hint), console.err.String())
		})
	}
}

func TestWhatIsDoneAlreadyIsNoMatterOfPolicy(t *testing.T) {
	assert.DeepEqual(t, Explain(&gate.Fault{Reason: gate.ReasonNotEligible, Message: "c_1 is applied already"}, "cw").Hints, []string(nil))
}

func TestAVerbThatHasPrintedItsDocumentGetsNoOther(t *testing.T) {
	console := newConsole(nil, "")
	failure := &Failure{Code: ExitApprovalRequired, Reason: ReasonApprovalRequired, Err: errors.New("approval required"), Hints: []string{"go on"}, Reported: true}
	assert.Equal(t, Run(context.Background(), console.fails(failure), []string{"verb", "-o", "json"}, console.Streams), 2)
	assert.Equal(t, console.out.String(), "")
	assert.Equal(t, console.err.String(), "error: approval required\nhint: go on\n")
}

func TestAWrongCommandLineIsOneDocumentToo(t *testing.T) {
	for _, args := range [][]string{
		{"verb", "--bogus", "-o", "json"}, {"verb", "-ojson", "--bogus"}, {"verb", "--output=json", "--bogus"}, {"nothing", "-o=json"}, {"verb", "-o", "json", "--out"},
	} {
		console := newConsole(nil, "")
		assert.Equal(t, Run(context.Background(), console.fails(nil), args, console.Streams), 1, "%q", args)
		var document render.Error
		assert.NilError(t, json.Unmarshal(console.out.Bytes(), &document), "%q: %s", args, console.out.String())
		assert.Equal(t, document.Reason, ReasonUsage)
	}
}

func TestEveryErrorHasItsLine(t *testing.T) {
	console := newConsole(nil, "")
	err := fmt.Errorf("%w", errors.Join(errors.New("first"), errors.Join(errors.New("second\nmore"), errors.New("::error::third"))))
	Run(context.Background(), console.fails(err), []string{"verb"}, console.Streams)
	assert.Equal(t, console.err.String(), "error: first\nerror: second\n  more\nerror: \\u003a:error::third\n")
}

func TestTheOutFileIsReplacedInEveryOutcome(t *testing.T) {
	for _, args := range [][]string{{"verb", "--out", "%"}, {"verb", "--bogus", "--out=%"}} {
		file := filepath.Join(t.TempDir(), "plan.md")
		assert.NilError(t, os.WriteFile(file, []byte("a plan of yesterday"), 0o600))
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "%", file)
		}
		console := newConsole(nil, "")
		assert.Equal(t, Run(context.Background(), console.fails(errors.New("broken")), args, console.Streams), 1)
		content, err := os.ReadFile(file)
		assert.NilError(t, err)
		assert.Assert(t, strings.HasPrefix(string(content), "### changeward: error\n"), string(content))
		left, err := os.ReadDir(filepath.Dir(file))
		assert.NilError(t, err)
		assert.Equal(t, len(left), 1)
	}
}

func TestAnOutFileThatCannotBeWrittenIsSaidOnceAndByItsName(t *testing.T) {
	for _, c := range []struct{ file, want string }{{"/none/plan.md", "write /none/plan.md: no such file or directory"}, {t.TempDir(), "file exists"}} {
		err := WriteOut(c.file, "", "", nil)
		assert.ErrorContains(t, err, c.want)
		assert.Assert(t, !strings.Contains(err.Error(), "/."), err.Error())
		console := newConsole(nil, "")
		assert.Equal(t, Run(context.Background(), console.fails(err), []string{"verb", "--out", c.file}, console.Streams), 1)
		assert.Equal(t, strings.Count(console.err.String(), "error: "), 1, console.err.String())
	}
}

func TestAPanicIsAnErrorWithoutATrace(t *testing.T) {
	console := newConsole(nil, "")
	root := console.fails(nil)
	root.Commands()[1].RunE = func(*cobra.Command, []string) error { panic("boom") }
	assert.Equal(t, Run(context.Background(), root, []string{"verb", "-o", "json"}, console.Streams), 1)
	assert.Assert(t, !strings.Contains(console.err.String(), "goroutine"))
	assert.Assert(t, strings.Contains(console.out.String(), `"reason": "Internal"`))
}

func TestAnInterruptIsSaidInOneWord(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	console := newConsole(nil, "")
	assert.Equal(t, Run(ctx, console.fails(fmt.Errorf("list: %w", ctx.Err())), []string{"verb"}, console.Streams), 1)
	assert.Equal(t, console.err.String(), "error: interrupted\n")
}

func TestAWriteThatFailsIsAnError(t *testing.T) {
	console := newConsole(nil, "")
	console.Out = brokenPipe{}
	err := console.Print(OutputFlag{Format: FormatText}, Result{Text: func() string { return "x" }})
	assert.ErrorContains(t, err, "write the result: broken pipe")
	console.ErrOut = brokenPipe{}
	assert.ErrorContains(t, console.StoryWhole("a plan"), "nothing is asked")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
