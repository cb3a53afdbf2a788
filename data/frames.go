package data

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Parts of Parquet and Arrow files that are compressed by Zstandard are frames, each with a header
// that says how large a window its decompression needs, and often how long the part is then. The
// libraries take that memory before they have read anything else.

// frameMark begins a frame.
var frameMark = []byte{0x28, 0xb5, 0x2f, 0xfd}

// framesTogether is how much of a file is looked through at a time.
const framesTogether = 1 << 20

// soundFrames refuses a file with a frame that claims more than most bytes.
func soundFrames(content io.ReaderAt, size int64, most float64) error {
	buffer := make([]byte, framesTogether+zstd.HeaderMaxSize)
	for from := int64(0); from < size; from += framesTogether {
		n, err := content.ReadAt(buffer[:min(int64(len(buffer)), size-from)], from)
		if err != nil && err != io.EOF {
			return err
		}
		for at := 0; at < n; at++ {
			next := bytes.Index(buffer[at:n], frameMark)
			if next < 0 {
				break
			}
			at += next
			var h zstd.Header
			if h.Decode(buffer[at:n]) != nil {
				continue // these bytes are no frame, or the library will find what is wrong
			}
			if claim := max(float64(h.WindowSize), float64(h.FrameContentSize)); claim > most {
				return fmt.Errorf("a compressed part of it claims %.0f bytes", claim)
			}
		}
	}
	return nil
}
