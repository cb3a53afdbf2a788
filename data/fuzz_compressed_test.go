package data

import (
	"testing"

	"missingscore/internal/fuzztest"
)

func fuzzedCompressed(f *testing.F, by string, others ...string) {
	const short, gaps = "a,b\n1,2\n3,5\n-1,\n", "x;y\n1,5;\n;2\n3;4\n0;0\n"
	pack := func(text string) string { return string(compressedBy(by, []byte(text))) }
	whole := pack(short)
	fuzztest.Reader[*Table]{
		Read:    fuzztest.InFile(f, "t.csv."+by, func(path string) (*Table, error) { return ReadCSV(path, ReadOptions{}) }),
		Write:   fuzztest.Written(f, "t.csv."+by, WriteCSV),
		Accepts: []string{whole, pack(gaps), pack(short[:8]) + pack(short[8:])}, // the last in two parts, as concatenated files are
		Refuses: []string{"", short, whole[:len(whole)-1], whole[:len(whole)/2], whole + "x", pack(""), pack("a,b\n1,\"2\n")},
		Others:  others,
	}.Fuzz(f)
}

func FuzzReadGzip(f *testing.F) { fuzzedCompressed(f, "gz") }

// A Zstandard frame may request a window, and so memory, of any size.
func FuzzReadZstandard(f *testing.F) {
	const text = "a,b\n1,2\n3,5\n-1,\n"
	frame := func(window byte) string { // one raw block, the last
		return "\x28\xb5\x2f\xfd\x00" + string([]byte{window, byte(len(text)<<3) | 1, byte(len(text) >> 5), 0}) + text
	}
	fuzzedCompressed(f, "zst", frame(0x00), frame(0x50), frame(0x90), frame(0xff))
}
