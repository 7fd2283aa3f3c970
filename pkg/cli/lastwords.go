package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/render"
)

const (
	// terminationLog is where the kubelet looks for what a container says last.
	terminationLog = "/dev/termination-log"
	// mostWords is how much of that it keeps, in bytes.
	mostWords = 4096
	// wordsAnnotation marks verbs that say them.
	wordsAnnotation = "changeward.dev/last-words"
)

// AddTerminationLogFlag registers --termination-log, the file that gets why the
// verb did not let something pass, in one paragraph.
func AddTerminationLogFlag(cmd *cobra.Command) {
	cmd.Flags().String("termination-log", "", "also write why nothing passed to this file, in short (default: "+terminationLog+" in a Pod)")
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[wordsAnnotation] = "true"
}

// lastWords writes why a verb failed to where the kubelet reads it, so that the
// status of the Pod says it. Without a Pod and without the flag nobody listens.
func lastWords(failure *Failure, cmd *cobra.Command, args []string, streams Streams) error {
	if cmd == nil || cmd.Annotations[wordsAnnotation] == "" {
		return nil
	}
	path, named := typed(args, "termination-log", ""), true
	if path == "" {
		path, named = terminationLog, false
		if streams.Env("KUBERNETES_SERVICE_HOST") == "" {
			return nil
		}
	}
	flags := os.O_WRONLY | os.O_TRUNC
	if named {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if err == nil {
		_, err = file.WriteString(wordsOf(failure))
		err = errors.Join(err, file.Close())
	}
	if err != nil && (named || !errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// wordsOf is a failure in one paragraph.
func wordsOf(failure *Failure) string {
	words := failure.LastWords
	if words == "" {
		words = "error: " + strings.Join(messages(failure.Err), "; ")
		if len(failure.Hints) > 0 {
			words += " (" + failure.Hints[0] + ")"
		}
	}
	words = render.EscapeBlock(words)
	return strings.ToValidUTF8(words[:min(len(words), mostWords)], "")
}
