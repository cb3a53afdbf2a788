package parquet

import (
	"bytes"
	"encoding/base64"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"

	"missingscore/internal/panics"
)

// factors returns the columns that had a dictionary in R or Python, and whether it was ordered.
func factors(f *parquet.File) map[string]bool {
	text, _ := f.Lookup("ARROW:schema")
	message, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	of := map[string]bool{}
	_ = panics.Caught(func() error {
		stream, err := ipc.NewReader(bytes.NewReader(message))
		if err != nil {
			return err
		}
		for _, field := range stream.Schema().Fields() {
			if dictionary, ok := field.Type.(*arrow.DictionaryType); ok {
				of[field.Name] = dictionary.Ordered
			}
		}
		return nil
	})
	return of
}

// levelsOf is the dictionary of a chunk's first page; nil without one, and if it is too long for levels.
func levelsOf(chunk parquet.ColumnChunk, text func(parquet.Value) string) (levels []string) {
	const most = 1000
	pages := chunk.Pages()
	defer pages.Close()
	page, err := pages.ReadPage()
	if err != nil {
		return nil // Read meets the same error
	}
	defer parquet.Release(page)
	if d := page.Dictionary(); d != nil && d.Len() <= most {
		for k := range d.Len() {
			levels = append(levels, text(d.Index(int32(k))))
		}
	}
	return levels
}
