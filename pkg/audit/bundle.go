package audit

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/changeward/changeward/state"
)

// BundleVersion is the form of a bundle: gzip of lines of canonical JSON, first
// a header, then one record a line.
const BundleVersion = "changeward.dev/bundle/v1"

// Limits of what is read: no record is larger in a cluster, and no bundle needs
// more memory than this.
const (
	maxLine   = 8 << 20
	maxBundle = 4 << 30
)

// BundleHeader is the first line of a bundle.
type BundleHeader struct {
	ClusterUID string `json:"clusterUID"`
	Exported   string `json:"exported"` // time of the store's clock
	Records    int    `json:"records"`
	Version    string `json:"version"`
}

// Bundle is all records of an install as they were when it was written. Nothing
// vouches for it but the signatures in it.
type Bundle struct {
	Header  BundleHeader
	Records []state.Record
}

// bundled is one line: the record, and what its store said of it.
type bundled struct {
	Actor      string            `json:"actor,omitempty"`
	Created    string            `json:"created"`
	Credential string            `json:"credential,omitempty"`
	Data       map[string][]byte `json:"data"`
	Groups     []string          `json:"groups,omitempty"`
	Immutable  bool              `json:"immutable"`
	Name       string            `json:"name"`
	Plan       string            `json:"plan,omitempty"`
	PlanHash   string            `json:"planHash,omitempty"`
	Scope      string            `json:"scope,omitempty"`
	Type       state.Type        `json:"type"`
	UID        string            `json:"uid"`
}

// NewBundle puts records of a cluster together as of a time.
func NewBundle(clusterUID string, now time.Time, records []state.Record) Bundle {
	return Bundle{Records: records, Header: BundleHeader{ClusterUID: clusterUID, Exported: state.FormatTime(now),
		Records: len(records), Version: BundleVersion}}
}

// Write writes a bundle; the same one always gives the same bytes.
func (b Bundle) Write(to io.Writer) error {
	zip := gzip.NewWriter(to)
	if err := writeLine(zip, b.Header); err != nil {
		return err
	}
	for _, r := range b.Records {
		line := bundled{Actor: r.Claims.Actor, Created: state.FormatTime(r.Created), Credential: r.Claims.Credential, Data: r.Data,
			Groups: r.Claims.Groups, Immutable: r.Immutable, Name: r.Name, Plan: r.Plan, PlanHash: r.Claims.PlanHash,
			Scope: r.Scope, Type: r.Type, UID: r.UID}
		if err := writeLine(zip, line); err != nil {
			return fmt.Errorf("bundle: %s: %w", r.Name, err)
		}
	}
	return zip.Close()
}

func writeLine(to io.Writer, value any) error {
	line, err := state.Canonical(value)
	if err == nil {
		_, err = to.Write(append(line, '\n'))
	}
	return err
}

// ReadBundle reads a bundle strictly: a line more or less, one of another form,
// or two records of one name are errors.
func ReadBundle(from io.Reader) (*Bundle, error) {
	zip, err := gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("no bundle: %w", err)
	}
	lines := bufio.NewScanner(io.LimitReader(zip, maxBundle))
	lines.Buffer(make([]byte, 1<<16), maxLine)
	b := &Bundle{}
	if b.Header, err = readHeader(lines); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for lines.Scan() {
		record, err := readLine(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("bundle: record %d: %w", len(b.Records)+1, err)
		}
		if names[record.Name] {
			return nil, fmt.Errorf("bundle: %s is there twice", record.Name)
		}
		names[record.Name] = true
		b.Records = append(b.Records, record)
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("bundle: %w", lines.Err())
	case len(b.Records) != b.Header.Records:
		return nil, fmt.Errorf("bundle: holds %d records, and says %d: it was cut, or something was added", len(b.Records), b.Header.Records)
	}
	return b, nil
}

func readHeader(lines *bufio.Scanner) (header BundleHeader, err error) {
	if !lines.Scan() {
		return header, errors.Join(errors.New("no bundle: it is empty"), lines.Err())
	}
	if err := state.DecodeStrict(lines.Bytes(), &header); err != nil {
		return header, fmt.Errorf("no bundle: %w", err)
	}
	if header.Version != BundleVersion {
		return header, fmt.Errorf("bundle of version %q, this program reads %q", header.Version, BundleVersion)
	}
	if _, err := state.ParseTime(header.Exported); err != nil {
		return header, fmt.Errorf("bundle: %w", err)
	}
	return header, nil
}

func readLine(line []byte) (state.Record, error) {
	var r bundled
	if err := state.DecodeStrict(bytes.Clone(line), &r); err != nil {
		return state.Record{}, err
	}
	created, err := state.ParseTime(r.Created)
	if err != nil {
		return state.Record{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	return state.Record{Type: r.Type, Name: r.Name, Data: r.Data, Plan: r.Plan, Scope: r.Scope, Created: created, UID: r.UID,
		Immutable: r.Immutable, Claims: state.Claims{Actor: r.Actor, Groups: r.Groups, Credential: r.Credential, PlanHash: r.PlanHash}}, nil
}
