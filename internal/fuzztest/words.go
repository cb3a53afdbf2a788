package fuzztest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// unknown are words of the language and of its library.
var unknown = regexp.MustCompile(`(?i:goroutine|panic|runtime error|internal error|nil pointer|index out of range|slice bounds|makeslice|strconv|\breflect\b|unmarshal|interface|\bu?int(?:8|16|32|64)\b|\bEOF\b)|context canceled|base64 data|invalid (?:syntax|argument|character)|Go (?:struct|value)|JSON input|map\[|\*\w+\.\w+|(?:^|\s)(?:json|gob|gzip|csv|flate): |\bu?int\b|%!`)

// Unknown is the first word of a message that users cannot know, of the language or of libraries that
// the program is written in; "" if there is none. What was given may be said again.
func Unknown(message string, given ...string) string {
	for _, word := range unknown.FindAllString(message, -1) {
		if !slices.ContainsFunc(given, func(text string) bool { return strings.Contains(text, word) || isItem(text, word) }) {
			return word
		}
	}
	return ""
}

// isItem says whether a word that a colon follows in a message stands in a text by itself, as gob in
// “log,gob”, and not as a part of a file's name.
func isItem(text, word string) bool {
	around := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`:,;="`, r) }
	return slices.Contains(strings.FieldsFunc(text, around), strings.TrimFunc(word, around))
}
