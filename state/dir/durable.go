package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/changeward/changeward/state"
)

// write fills the folder of a record, and returns once all is on the disk.
func (s *Store) write(folder string, record state.Record) error {
	about, err := state.Canonical(meta{Actor: record.Claims.Actor, Credential: record.Claims.Credential, Groups: record.Claims.Groups,
		PlanHash: record.Claims.PlanHash, Plan: record.Plan, Scope: record.Scope, Created: state.FormatTime(record.Created)})
	if err != nil {
		return err
	}
	if err := s.writeFile(filepath.Join(folder, metaFile), about); err != nil {
		return err
	}
	for key, value := range record.Data {
		if key == metaFile || key != filepath.Base(key) {
			return fmt.Errorf("data key %q cannot be stored", key)
		}
		if err := s.writeFile(filepath.Join(folder, key), value); err != nil {
			return err
		}
	}
	return s.sync(folder)
}

func (s *Store) writeFile(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = s.flush(file)
	}
	return errors.Join(err, file.Close())
}

// folder makes a folder, and those above it that are missing, for good.
func (s *Store) folder(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.folder(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.sync(filepath.Dir(path))
}

// sync writes to the disk which names a folder holds.
func (s *Store) sync(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(s.flush(file), file.Close())
}
