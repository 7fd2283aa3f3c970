package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	"k8s.io/klog/v2"

	"github.com/changeward/changeward/pkg/render"
)

// Streams are a command's ways in and out: the result goes to Out, the story
// to ErrOut.
type Streams struct {
	In     io.Reader
	Out    io.Writer
	ErrOut io.Writer
	// Env reads the environment.
	Env func(name string) string
	// Interactive says that a person sits at In and ErrOut: only then is
	// anything asked.
	Interactive bool
	// Color and ErrColor allow terminal colours on Out and ErrOut.
	Color, ErrColor bool
	// Progress says when a long piece of work is worth a line on ErrOut.
	Progress ProgressTicks
	// Program is how people call this binary, such as "kubectl changeward".
	Program string
}

// OSStreams are those of the process. Kubernetes' own logging, which would
// write to stderr by itself, is turned off for the process.
func OSStreams(program string) Streams {
	klog.SetLogger(logr.Discard())
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	progress := ProgressTicks{First: time.Second, Every: 10 * time.Second}
	if terminal(os.Stderr) && os.Getenv("TERM") != "dumb" {
		progress.Every, progress.InPlace = time.Second/5, true
	}
	return Streams{
		In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Env: os.Getenv, Program: program,
		Interactive: terminal(os.Stdin) && terminal(os.Stderr),
		Color:       terminal(os.Stdout) && !plain, ErrColor: terminal(os.Stderr) && !plain,
		Progress: progress,
	}
}

// homeOf is the caller's home directory; "" where there is none, as in a
// container without a user.
func homeOf(env func(string) string) string { return cmp.Or(env("HOME"), env("USERPROFILE")) }

// Home is the caller's home directory, "" where there is none.
func (s Streams) Home() string { return homeOf(s.Env) }

// KubectlProgram is how people call the plugin that has the verbs of deciding,
// install and policy.
const KubectlProgram = "kubectl changeward"

// FluxProgram is how people call the plugin of the Flux CLI.
const FluxProgram = "flux changeward"

// Advice is the program whose verbs advice names.
func (s Streams) Advice() string {
	if s.Program == FluxProgram {
		return KubectlProgram
	}
	return s.Program
}

// Style is how text is set on Out.
func (s Streams) Style() render.Style { return render.Style{Color: s.Color, Program: s.Advice()} }

// ErrStyle is how text is set on ErrOut.
func (s Streams) ErrStyle() render.Style { return render.Style{Color: s.ErrColor, Program: s.Advice()} }

// Note prints one sentence of the story on ErrOut, escaped. That nobody reads
// it is no reason to stop.
func (s Streams) Note(sentence string) {
	_, _ = io.WriteString(s.ErrOut, render.EscapeBlock(sentence)+"\n")
}

// Hint prints advice on ErrOut.
func (s Streams) Hint(sentence string) {
	_, _ = io.WriteString(s.ErrOut, s.ErrStyle().Failure(nil, []string{sentence}))
}

// StoryWhole is Story for what must be seen in full before anything is asked:
// if it could not be written, that is an error.
func (s Streams) StoryWhole(text string) error {
	if _, err := io.WriteString(s.ErrOut, text); err != nil {
		return fmt.Errorf("the plan could not be shown in full, so nothing is asked: %w", err)
	}
	return nil
}

// Story prints text that render has made on ErrOut.
func (s Streams) Story(text string) { _, _ = io.WriteString(s.ErrOut, text) }
