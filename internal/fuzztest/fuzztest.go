// Package fuzztest has fuzz targets for readers: for any text no panic, bounded memory, errors in
// plain words, and what is written is read back.
package fuzztest

import (
	"maps"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
)

type Reader[T any] struct {
	Read  func(text string) (T, error)
	Write func(read T) (string, error)            // a text that Read reads as the same; nil if there is no writer
	Check func(t testing.TB, text string, read T) // further checks of a result; may be nil

	Accepts []string // texts that must be read
	Refuses []string // texts that must be refused
	Others  []string // texts that may be read or refused

	Messages map[string]string // texts that must be refused, with a part of the message
}

const allowed = "200MB"

// Allocation limits: a constant, and bytes for each byte of the text.
const (
	room    = 64 << 20
	perByte = 4096
)

func (r Reader[T]) Fuzz(f *testing.F) {
	f.Setenv(memory.Variable, allowed)
	for _, text := range r.Accepts {
		_, err := r.Read(text)
		require.NoError(f, err, "%q", text)
		f.Add(text)
	}
	for _, text := range r.Refuses {
		_, err := r.Read(text)
		require.Error(f, err, "%q", text)
		f.Add(text)
	}
	for _, text := range slices.Sorted(maps.Keys(r.Messages)) {
		_, err := r.Read(text)
		require.ErrorContains(f, err, r.Messages[text], "%q", text)
		f.Add(text)
	}
	for _, text := range r.Others {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { r.Try(t, text) })
}

func (r Reader[T]) Try(t testing.TB, text string) {
	before := allocated()
	read, err := r.Read(text)
	require.LessOrEqual(t, allocated()-before, uint64(room+perByte*len(text)), "bytes allocated to read %d", len(text))
	if err != nil {
		require.Empty(t, Unknown(err.Error(), text), "%v", err)
		return
	}
	if r.Check != nil {
		r.Check(t, text, read)
	}
	if r.Write == nil {
		return
	}
	first, err := r.Write(read)
	require.NoError(t, err)
	again, err := r.Read(first)
	require.NoError(t, err, "%s", first)
	second, err := r.Write(again)
	require.NoError(t, err)
	require.Equal(t, first, second)
}

// InFile turns a reader of files into one of texts, through a file with this name.
func InFile[T any](f testing.TB, name string, read func(path string) (T, error)) func(text string) (T, error) {
	path := filepath.Join(f.TempDir(), name)
	return func(text string) (none T, err error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return none, err
		}
		return read(path)
	}
}

// Written turns a writer of files into one of texts.
func Written[T any](f testing.TB, name string, write func(path string, read T) error) func(read T) (string, error) {
	path := filepath.Join(f.TempDir(), name)
	return func(read T) (string, error) {
		if err := write(path, read); err != nil {
			return "", err
		}
		text, err := os.ReadFile(path)
		return string(text), err
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
