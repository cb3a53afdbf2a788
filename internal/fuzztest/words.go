package fuzztest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var unknown = regexp.MustCompile(`(?i:goroutine|panic|runtime error|internal error|nil pointer|index out of range|slice bounds|makeslice|strconv|\breflect\b|unmarshal|interface|\bu?int(?:8|16|32|64)\b|\bEOF\b)|context canceled|base64 data|invalid (?:syntax|argument|character)|Go (?:struct|value)|JSON input|map\[|\*\w+\.\w+|(?:^|\s)(?:json|gob|gzip|csv|flate): |\bu?int\b|%!`)

// Unknown returns the first word of Go in a message; words in given are allowed.
func Unknown(message string, given ...string) string {
	for _, word := range unknown.FindAllString(message, -1) {
		if !slices.ContainsFunc(given, func(text string) bool { return strings.Contains(text, word) || isItem(text, word) }) {
			return word
		}
	}
	return ""
}

// isItem reports whether a word with a colon is an item of text, as gob in “log,gob”.
func isItem(text, word string) bool {
	around := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`:,;="`, r) }
	return slices.Contains(strings.FieldsFunc(text, around), strings.TrimFunc(word, around))
}
