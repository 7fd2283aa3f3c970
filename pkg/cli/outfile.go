package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/changeward/changeward/pkg/render"
)

// outAnnotation marks verbs whose --out is a report.
const outAnnotation = "changeward.dev/out"

// AddOutFlag registers --out, the file that gets the answer in every outcome.
func AddOutFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "out", "", "also write the answer to this file: Markdown if it ends in .md, JSON in .json, else text")
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[outAnnotation] = "true"
}

// takesAnswers says whether a verb's --out is a report. nil: no verb was found.
func takesAnswers(cmd *cobra.Command) bool { return cmd != nil && cmd.Annotations[outAnnotation] != "" }

// WriteOut replaces the file of --out at once: Markdown where its name ends in
// .md, JSON in .json, else text. A reader sees the old file or the new one.
func WriteOut(file, markdown, text string, document any) error {
	content := []byte(text)
	switch {
	case strings.HasSuffix(file, ".md"):
		content = []byte(markdown)
	case strings.HasSuffix(file, ".json"):
		var out bytes.Buffer
		if err := render.JSON(&out, document); err != nil {
			return err
		}
		content = out.Bytes()
	}
	if err := replaceFile(file, content, 0o644); err != nil {
		return &outError{err}
	}
	return nil
}

// outError is a file of --out that cannot be written. It is not tried again
// with the error in it.
type outError struct{ err error }

func (e *outError) Error() string { return e.err.Error() }

func (e *outError) Unwrap() error { return e.err }

// WritePrivate writes a file that only its owner may read, whole or not at all.
func WritePrivate(file string, content []byte) error { return replaceFile(file, content, 0o600) }

// replaceFile writes a file whole or not at all.
func replaceFile(file string, content []byte, mode os.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, cause(err))
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err == nil {
		err = cause(os.Rename(temporary.Name(), file))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, errors.Join(err, os.Remove(temporary.Name())))
	}
	return nil
}

// cause is an error of a file without the names in it, which are those of a
// temporary one.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// maxInput is the largest text that is read from standard input.
const maxInput = 16 << 20

// ReadAll reads standard input, up to 16 MiB.
func ReadAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = errors.New("standard input is larger than 16 MiB")
	}
	return data, err
}
