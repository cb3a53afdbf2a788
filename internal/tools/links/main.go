// Links checks the links of the Markdown files below the folder it is started in: a link to a file
// or an anchor that does not exist is an error.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	named    = regexp.MustCompile(`<a id="([^"]+)">`)
)

// ids makes the anchors of headings as code hosts do: lower case, letters, digits, hyphens.
type ids struct{}

func (ids) Put([]byte) {}

func (ids) Generate(heading []byte, _ ast.NodeKind) []byte {
	return []byte(strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return r
		}
		return -1
	}, strings.ToLower(strings.TrimSpace(string(heading)))))
}

func main() {
	anchors, links := map[string]bool{}, map[string][]string{} // FILE#ANCHOR; by file
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range named.FindAllSubmatch(body, -1) {
			anchors[name+"#"+string(m[1])] = true
		}
		doc := markdown.Parser().Parse(text.NewReader(body), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
		return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			var to []byte
			switch n := n.(type) {
			case *ast.Heading:
				id, _ := n.AttributeString("id")
				anchors[name+"#"+string(id.([]byte))] = true
			case *ast.Link:
				to = n.Destination
			case *ast.Image:
				to = n.Destination
			}
			if link := string(to); entering && link != "" && !strings.Contains(link, "://") && !strings.HasPrefix(link, "mailto:") {
				links[name] = append(links[name], link)
			}
			return ast.WalkContinue, nil
		})
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if broken(links, anchors) {
		os.Exit(1)
	}
	fmt.Printf("the links of %d files lead somewhere\n", len(links))
}

func broken(links map[string][]string, anchors map[string]bool) (found bool) {
	for name, to := range links {
		for _, link := range to {
			file, anchor, has := strings.Cut(link, "#")
			if file == "" {
				file = name
			} else {
				file = path.Join(path.Dir(name), file)
			}
			if info, err := os.Stat(file); err != nil {
				fmt.Fprintf(os.Stderr, "%s links to %s, which does not exist\n", name, link)
				found = true
			} else if has && !info.IsDir() && !anchors[file+"#"+anchor] {
				fmt.Fprintf(os.Stderr, "%s links to %s, which has no such anchor\n", name, link)
				found = true
			}
		}
	}
	return found
}
