// Package dir keeps records in a folder: for reading them offline, for trials,
// and where no cluster may hold them. A folder has no admission, so nothing
// attests who wrote a record: only signatures speak.
//
// Enter at Create for a new folder, at Open for one that is there. A record is
// the folder TYPE/NAME with one file a data key, and record.json with what the
// cluster would hold in metadata.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/state"
)

const metaFile = "record.json"

// Store is a state.Store over a folder.
type Store struct {
	root  string
	now   func() time.Time
	flush func(*os.File) error
}

// Create makes the folder of a new store, if it is not there yet.
func Create(root string, now func() time.Time) (*Store, error) {
	s := Open(root, now)
	if err := s.folder(root); err != nil {
		return nil, fmt.Errorf("records in %s: %w", root, err)
	}
	return s, nil
}

// Open is the store in a folder. That it does not exist shows at the first
// use, as ErrNoStore. now is the clock that new records are dated by.
func Open(root string, now func() time.Time) *Store {
	return &Store{root: filepath.Clean(root), now: now, flush: (*os.File).Sync}
}

// meta is record.json.
type meta struct {
	Actor      string   `json:"actor,omitempty"`
	Created    string   `json:"created"`
	Credential string   `json:"credential,omitempty"`
	Groups     []string `json:"groups,omitempty"`
	Plan       string   `json:"plan,omitempty"`
	PlanHash   string   `json:"planHash,omitempty"`
	Scope      string   `json:"scope,omitempty"`
}

// Create implements state.Store. The record is written beside its place, to the
// disk, and moved there whole: a name that is taken refuses the move. Once Create
// returns, the record outlives the machine's power.
func (s *Store) Create(_ context.Context, record state.Record) (state.Record, error) {
	place, err := s.place(record.Type, record.Name)
	if err != nil {
		return state.Record{}, err
	}
	record.Created = s.now().UTC().Truncate(time.Second)
	s.clean()
	draft, err := os.MkdirTemp(s.root, draftPrefix)
	if err != nil {
		return state.Record{}, failed("create", record.Type, record.Name, err)
	}
	defer os.RemoveAll(draft)
	if err := s.write(draft, record); err != nil {
		return state.Record{}, failed("create", record.Type, record.Name, err)
	}
	if err = os.Mkdir(filepath.Dir(place), 0o700); err == nil || errors.Is(err, fs.ErrExist) {
		err = s.sync(s.root) // who has made the folder may not have come to that yet
	}
	if err != nil {
		return state.Record{}, failed("create", record.Type, record.Name, err)
	}
	err = os.Rename(draft, place)
	if _, taken := os.Lstat(place); err != nil && taken == nil {
		err = state.ErrExists
	}
	if err == nil {
		err = s.sync(filepath.Dir(place))
	}
	if err != nil {
		return state.Record{}, failed("create", record.Type, record.Name, err)
	}
	return read(record.Type, place)
}

// draftPrefix begins the name of an unfinished record. The dot keeps it out of
// every list.
const draftPrefix = ".draft-"

// maxDraft is how long writing a record may take: a draft that is older was
// left by a writer that was killed.
const maxDraft = time.Hour

// clean removes drafts that nobody will finish. It is no matter if it cannot:
// they are in no list.
func (s *Store) clean() {
	entries, err := os.ReadDir(s.root)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), draftPrefix) && s.now().Sub(info.ModTime()) > maxDraft {
			_ = os.RemoveAll(filepath.Join(s.root, entry.Name()))
		}
	}
}

// Get implements state.Store.
func (s *Store) Get(_ context.Context, t state.Type, name string) (state.Record, error) {
	place, err := s.place(t, name)
	if err != nil {
		return state.Record{}, err
	}
	record, err := read(t, place)
	if err != nil {
		return state.Record{}, failed("get", t, name, err)
	}
	return record, nil
}

// List implements state.Store.
func (s *Store) List(_ context.Context, t state.Type, selector state.Selector) ([]state.Record, error) {
	return s.list(t, selector, read)
}

// Index implements state.Store.
func (s *Store) Index(_ context.Context, t state.Type, selector state.Selector) ([]state.Record, error) {
	return s.list(t, selector, func(t state.Type, place string) (state.Record, error) {
		content, err := readFile(filepath.Join(place, metaFile))
		if err != nil {
			return state.Record{}, err
		}
		record := state.Record{Type: t, Name: filepath.Base(place)}
		return record, describe(&record, content)
	})
}

func (s *Store) list(t state.Type, selector state.Selector, read func(state.Type, string) (state.Record, error)) ([]state.Record, error) {
	if err := s.exists(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(s.root, string(t))) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("list", t, "", err)
	}
	var records []state.Record
	for _, entry := range entries {
		place, err := s.place(t, entry.Name())
		if err != nil || !entry.IsDir() {
			continue // no record
		}
		record, err := read(t, place)
		if _, deleted := os.Lstat(place); err != nil && errors.Is(deleted, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, failed("list", t, entry.Name(), err)
		}
		if matches(selector.Plan, record.Plan) && matches(selector.Scope, record.Scope) {
			records = append(records, record)
		}
	}
	return records, nil
}

func matches(wanted, label string) bool { return wanted == "" || wanted == label }

// Delete implements state.Store. The record is moved away whole, so that nobody
// ever reads half of one.
func (s *Store) Delete(ctx context.Context, t state.Type, name string) error {
	if _, err := s.Get(ctx, t, name); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(s.root, draftPrefix)
	if err != nil {
		return failed("delete", t, name, err)
	}
	defer os.RemoveAll(draft)
	place := filepath.Join(s.root, string(t), name)
	if err := os.Rename(place, filepath.Join(draft, name)); err != nil {
		return failed("delete", t, name, err)
	}
	return s.sync(filepath.Dir(place))
}

// Now implements state.Store: the clock that the store was opened with.
func (s *Store) Now(context.Context) (time.Time, error) {
	return s.now().UTC().Truncate(time.Second), nil
}

// place is the folder of a record; a name that is none is an error, so that no
// name leads out of the store.
func (s *Store) place(t state.Type, name string) (string, error) {
	if !slices.Contains(state.Types(), t) || !strings.HasPrefix(name, "cw-"+string(t)+"-") || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("%q is no name of a %s record", name, t)
	}
	return filepath.Join(s.root, string(t), name), s.exists()
}

func (s *Store) exists() error {
	if _, err := os.Stat(s.root); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("records in %s: %w", s.root, state.ErrNoStore)
	} else if err != nil {
		return fmt.Errorf("records in %s: %w", s.root, err)
	}
	return nil
}

func read(t state.Type, place string) (state.Record, error) {
	record := state.Record{Type: t, Name: filepath.Base(place), Data: map[string][]byte{}, Immutable: true}
	files, err := os.ReadDir(place)
	if err != nil {
		return record, err
	}
	for _, file := range files {
		if !file.Type().IsRegular() {
			return record, fmt.Errorf("%s is no file", file.Name())
		}
		if record.Data[file.Name()], err = readFile(filepath.Join(place, file.Name())); err != nil {
			return record, err
		}
	}
	record.UID = state.Digest(record.Data[metaFile])
	err = describe(&record, record.Data[metaFile])
	delete(record.Data, metaFile)
	return record, err
}

// describe fills in what record.json says.
func describe(record *state.Record, content []byte) error {
	var about meta
	if err := state.DecodeStrict(content, &about); err != nil {
		return fmt.Errorf("%s: %w", metaFile, err)
	}
	record.Plan, record.Scope = about.Plan, about.Scope
	record.Claims = state.Claims{Actor: about.Actor, Groups: about.Groups, Credential: about.Credential, PlanHash: about.PlanHash}
	var err error
	record.Created, err = state.ParseTime(about.Created)
	return err
}

// maxFile is how large a data file may be: no object of a cluster is larger.
const maxFile = 2 << 20

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", filepath.Base(path), maxFile)
	}
	return data, err
}

func failed(verb string, t state.Type, name string, err error) error {
	what := strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, t, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", what, state.ErrNotFound)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w: %w", what, state.ErrForbidden, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
