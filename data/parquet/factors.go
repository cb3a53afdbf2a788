package parquet

import (
	"encoding/base64"
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/parquet-go/parquet-go"

	"missingscore/data/format"
	"missingscore/internal/panics"
)

// Field offsets in tables of Arrow's schema (Message.fbs, Schema.fbs), which R and Python write
// into a file.
const (
	messageHeader   = 8
	schemaFields    = 6
	fieldName       = 4
	fieldDictionary = 12
	ordered         = 8
)

// factors returns the columns that had a dictionary when the file was written, such as R's factors,
// and whether their levels are ordered. Unreadable metadata is ignored.
func factors(f *parquet.File) (of map[string]bool) {
	text, _ := f.Lookup("ARROW:schema")
	message, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	_ = panics.Caught(func() error { of = dictionaries(message); return nil })
	return of
}

// dictionaries returns the fields of a schema with a dictionary, by name. It panics if an offset
// leads outside.
func dictionaries(message []byte) map[string]bool {
	if binary.LittleEndian.Uint32(message) == 0xffffffff { // precedes the length since version 0.15
		message = message[4:]
	}
	message = message[4:]
	root := flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}
	inside := func(t flatbuffers.Table, place flatbuffers.VOffsetT) (at flatbuffers.UOffsetT) {
		if o := t.Offset(place); o != 0 {
			at = t.Pos + flatbuffers.UOffsetT(o)
		}
		return at
	}
	at := inside(root, messageHeader)
	if at == 0 {
		return nil
	}
	schema := flatbuffers.Table{Bytes: message, Pos: root.Indirect(at)}
	fields := flatbuffers.UOffsetT(schema.Offset(schemaFields))
	if fields == 0 {
		return nil
	}
	of := map[string]bool{}
	for k := range schema.VectorLen(fields) {
		field := flatbuffers.Table{Bytes: message, Pos: schema.Indirect(schema.Vector(fields) + flatbuffers.UOffsetT(4*k))}
		name, dictionary := inside(field, fieldName), inside(field, fieldDictionary)
		if name == 0 || dictionary == 0 {
			continue
		}
		encoding := flatbuffers.Table{Bytes: message, Pos: field.Indirect(dictionary)}
		of[field.String(name)] = encoding.GetBoolSlot(ordered, false)
	}
	return of
}

// levels returns the dictionary of a factor's page; nil for other pages and if it is too long for
// levels.
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
