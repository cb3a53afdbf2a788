package arrow

import (
	"encoding/binary"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"

	"missingscore/data/format"
)

// A damaged list length in the schema could exhaust memory: the library allocates lists first.

// Field offsets in tables of Arrow's format (Schema.fbs, File.fbs).
const (
	footerSchema   = 6
	schemaFields   = 6
	schemaMetadata = 8
	fieldChildren  = 14
	fieldMetadata  = 16
)

func soundFooter(content io.ReaderAt, size int64) error {
	var tail [4]byte
	if _, err := content.ReadAt(tail[:], size-10); size < 18 || err != nil {
		return io.ErrUnexpectedEOF
	}
	footer := make([]byte, min(int64(binary.LittleEndian.Uint32(tail[:])), size-18))
	if _, err := content.ReadAt(footer, size-10-int64(len(footer))); err != nil {
		return err
	}
	return soundSchema(footer, footerSchema)
}

// soundSchema panics if an offset leads outside the buffer.
func soundSchema(buffer []byte, place flatbuffers.VOffsetT) error {
	root := flatbuffers.Table{Bytes: buffer, Pos: flatbuffers.GetUOffsetT(buffer)}
	at := flatbuffers.UOffsetT(root.Offset(place))
	if at == 0 {
		return format.Damaged("it has no schema")
	}
	left := len(buffer) / 4 // maximum number of entries
	return soundLists(flatbuffers.Table{Bytes: buffer, Pos: root.Indirect(root.Pos + at)}, schemaFields, schemaMetadata, &left)
}

func soundLists(table flatbuffers.Table, fields, metadata flatbuffers.VOffsetT, left *int) error {
	for _, place := range []flatbuffers.VOffsetT{metadata, fields} {
		at := flatbuffers.UOffsetT(table.Offset(place))
		if at == 0 {
			continue
		}
		n := table.VectorLen(at)
		if *left -= n; n < 0 || *left < 0 {
			return format.Damaged("a list of %d entries in %d bytes", n, len(table.Bytes))
		}
		for k := 0; k < n && place == fields; k++ {
			field := flatbuffers.Table{Bytes: table.Bytes, Pos: table.Indirect(table.Vector(at) + flatbuffers.UOffsetT(4*k))}
			if err := soundLists(field, fieldChildren, fieldMetadata, left); err != nil {
				return err
			}
		}
	}
	return nil
}
