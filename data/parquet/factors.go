package parquet

import (
	"bytes"
	"encoding/base64"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"

	"missingscore/data/format"
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

// levels returns nil for pages without a dictionary, and if it is too long for levels.
func (c *cursor) levels() (texts []string) {
	const most = 1000
	if !c.factor || c.kind != format.Text || c.page.Dictionary() == nil || c.page.Dictionary().Len() > most {
		return nil
	}
	for k := range c.page.Dictionary().Len() {
		texts = append(texts, c.text(c.page.Dictionary().Index(int32(k))))
	}
	return texts
}
