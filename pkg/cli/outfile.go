package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	cmd.Annotations = map[string]string{outAnnotation: "true"}
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
	return replaceFile(file, content, 0o644)
}

// WritePrivate writes a file that only its owner may read, whole or not at all.
func WritePrivate(file string, content []byte) error { return replaceFile(file, content, 0o600) }

// replaceFile writes a file whole or not at all.
func replaceFile(file string, content []byte, mode os.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, errors.Join(err, os.Remove(temporary.Name())))
	}
	return nil
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
