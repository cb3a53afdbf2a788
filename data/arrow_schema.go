package data

import (
	"encoding/binary"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Places of what is looked at, in tables of Arrow's format (Schema.fbs, Message.fbs, File.fbs).
const (
	footerSchema   = 6
	messageHeader  = 8
	schemaFields   = 6
	schemaMetadata = 8
	fieldChildren  = 14
	fieldMetadata  = 16

	deepestField = 64
)

// soundFooter checks the schema of an Arrow file before the library allocates what it says.
func soundFooter(content io.ReaderAt, size int64) error {
	var tail [4]byte
	if size < 18 {
		return io.ErrUnexpectedEOF
	}
	if _, err := content.ReadAt(tail[:], size-10); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n < 8 || n > size-18 {
		return fmt.Errorf("a footer of %d bytes in a file of %d", n, size)
	}
	footer := make([]byte, n)
	if _, err := content.ReadAt(footer, size-10-n); err != nil {
		return err
	}
	return soundSchema(footer, footerSchema)
}

// soundMessage checks the schema that begins a stream, of which these are the first bytes.
func soundMessage(begin func(n int) ([]byte, error)) error {
	first, err := begin(8)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(first[4:])
	if n < 8 || n > longestLine {
		return fmt.Errorf("a schema of %d bytes", n)
	}
	message, err := begin(8 + int(n))
	if err != nil {
		return err
	}
	return soundSchema(message[8:], messageHeader)
}

// soundSchema checks the schema that the first table of a buffer has at a place: no list in it may
// be longer than the buffer. It panics where offsets lead outside.
func soundSchema(buffer []byte, place flatbuffers.VOffsetT) error {
	root := flatbuffers.Table{Bytes: buffer, Pos: flatbuffers.GetUOffsetT(buffer)}
	at := flatbuffers.UOffsetT(root.Offset(place))
	if at == 0 {
		return fmt.Errorf("it has no schema")
	}
	schema := flatbuffers.Table{Bytes: buffer, Pos: root.Indirect(root.Pos + at)}
	left := len(buffer) / 4 // fields that there can be
	return soundLists(schema, schemaFields, schemaMetadata, 0, &left)
}

// soundLists checks the fields below a table, and its metadata.
func soundLists(table flatbuffers.Table, fields, metadata flatbuffers.VOffsetT, depth int, left *int) error {
	for _, place := range []flatbuffers.VOffsetT{fields, metadata} {
		at := flatbuffers.UOffsetT(table.Offset(place))
		if at == 0 {
			continue
		}
		n := table.VectorLen(at)
		if n < 0 || n > len(table.Bytes)/4 {
			return fmt.Errorf("a list of %d entries in %d bytes", n, len(table.Bytes))
		}
		if place == metadata {
			continue
		}
		if *left -= n; *left < 0 || depth > deepestField {
			return fmt.Errorf("its fields are nested without an end")
		}
		for k := range n {
			field := flatbuffers.Table{Bytes: table.Bytes, Pos: table.Indirect(table.Vector(at) + flatbuffers.UOffsetT(4*k))}
			if err := soundLists(field, fieldChildren, fieldMetadata, depth+1, left); err != nil {
				return err
			}
		}
	}
	return nil
}
