package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/changeward/changeward/pkg/render"
)

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
