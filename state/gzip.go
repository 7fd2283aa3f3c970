package state

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// MaxBody is how many bytes a plan or before-state may have before gzip:
// 64 MiB, some ten thousand large objects. It bounds what a reader unpacks.
const MaxBody = 64 << 20

// MaxInline is how many bytes of gzip one record carries: 700 KiB, since an
// object takes 1 MiB, with room for the rest of the record. What is larger
// goes into chunks of this size.
const MaxInline = 700 << 10

// Compress packs data by gzip, without a time, at one fixed level. More than
// MaxBody is an error: nobody could read it again.
func Compress(data []byte) ([]byte, error) {
	if len(data) > MaxBody {
		return nil, fmt.Errorf("gzip: %d bytes are more than the limit of %d", len(data), MaxBody)
	}
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if _, err := writer.Write(data); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return out.Bytes(), nil
}

// Decompress unpacks one gzip stream of at most limit bytes, and refuses more
// (a bomb) as well as anything behind the stream.
func Decompress(data []byte, limit int) ([]byte, error) {
	source := bytes.NewReader(data)
	reader, err := gzip.NewReader(source)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	reader.Multistream(false)
	out, err := io.ReadAll(io.LimitReader(reader, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if len(out) > limit {
		return nil, fmt.Errorf("gzip: unpacks to more than the limit of %d bytes", limit)
	}
	if source.Len() > 0 {
		return nil, errors.New("gzip: data behind the stream")
	}
	return out, nil
}
