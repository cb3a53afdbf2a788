// Site writes the documentation as HTML pages with a search box:
//
//	GOWORK=off go -C internal/tools run ./site FOLDER
//
// Each Markdown file becomes a page, and files that pages link to are written beside them. A link
// to a file or an anchor that does not exist is an error.
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html style.css search.js
var files embed.FS

// groups of the sidebar: a title, and the page whose links give the order of the others.
var groups = [][2]string{
	{"Tutorials", "docs/tutorials/README.md"},
	{"How to", "docs/how-to/README.md"},
	{"Reference", "docs/reference/README.md"},
	{"Explanation", "docs/explanation/README.md"},
	{"Theory", "docs/theory/index.md"},
}

// page is one Markdown file. Paths are slash-separated, from the root of the repository.
type page struct {
	source, target, Title string
	body                  []byte
	anchors               map[string]bool
	links                 []string // to other files, from the root, with their fragments
}

type section struct {
	Page    string `json:"p"`
	Title   string `json:"t"`
	Heading string `json:"h"`
	Text    string `json:"x"`
}

// ids makes the anchors of headings as code hosts do: lower case, letters, digits, hyphens.
type ids struct{}

func (ids) Generate(heading []byte, _ ast.NodeKind) []byte {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(heading))) {
		switch {
		case r == ' ':
			out.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			out.WriteRune(r)
		}
	}
	return []byte(out.String())
}

func (ids) Put([]byte) {}

var named = regexp.MustCompile(`<a id="([^"]+)">`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER")
		os.Exit(2)
	}
	if err := write("../..", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type site struct {
	root, out string
	pages     map[string]*page
	layout    *template.Template
	groups    []group
}

func write(root, out string) error {
	if !filepath.IsAbs(out) {
		out = filepath.Join(root, out)
	}
	pages, err := read(root)
	if err != nil {
		return err
	}
	layout, err := template.ParseFS(files, "page.html")
	if err != nil {
		return err
	}
	s := &site{root, out, pages, layout, sidebar(pages)}
	if err := s.example(); err != nil {
		return err
	}
	var sections []section
	var broken []string
	for _, p := range pages {
		html, found, err := p.render(pages)
		if err != nil {
			return err
		}
		sections = append(sections, found...)
		if err := s.put(p.target, p.Title, html); err != nil {
			return err
		}
		for _, link := range p.links {
			fault, err := s.follow(link)
			if err != nil {
				return err
			}
			if fault != "" {
				broken = append(broken, p.source+" links to "+link+", which "+fault)
			}
		}
	}
	if len(broken) > 0 {
		slices.Sort(broken)
		return errors.New(strings.Join(broken, "\n"))
	}
	slices.SortFunc(sections, func(a, b section) int { return strings.Compare(a.Page, b.Page) })
	index, err := json.Marshal(sections)
	if err != nil {
		return err
	}
	script, err := files.ReadFile("search.js")
	if err != nil {
		return err
	}
	style, err := files.ReadFile("style.css")
	if err != nil {
		return err
	}
	if err := save(out, "search.js", slices.Concat([]byte("const sections = "), index, []byte(";\n"), script)); err != nil {
		return err
	}
	fmt.Printf("%d pages, %d sections in %s\n", len(pages), len(sections), out)
	return save(out, "style.css", style)
}

// example runs the README's example into the folder example, and writes a page that shows its report.
func (s *site) example() error {
	folder, err := filepath.Abs(filepath.Join(s.out, "example"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	run := exec.Command("go", "run", "./cmd/missingscore", "network", "examples/airquality.csv", "--columns", "Ozone,Solar.R,Wind,Temp", "--out", folder)
	run.Dir = s.root
	if text, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("the example's report: %w\n%s", err, text)
	}
	return s.put("example.html", "Example report", []byte(`<h1>Example report</h1><p>The report of <code>missingscore network examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp</code>; <a href="example/report.html">alone</a>.</p><iframe src="example/report.html" title="report of a network"></iframe>`))
}

func (s *site) put(target, title string, body []byte) error {
	up := strings.Repeat("../", strings.Count(target, "/"))
	var text bytes.Buffer
	if err := s.layout.Execute(&text, map[string]any{"Title": title, "Up": template.URL(up), "Here": target, "Groups": s.groups, "Body": template.HTML(body)}); err != nil {
		return err
	}
	return save(s.out, target, text.Bytes())
}

// follow writes the file of a link if it is no page, and says what is wrong with the link.
func (s *site) follow(link string) (fault string, err error) {
	file, fragment, has := strings.Cut(link, "#")
	info, err := os.Stat(filepath.Join(s.root, file))
	if err != nil {
		return "does not exist", nil
	}
	if other := s.pages[file]; other == nil {
		return "", s.copied(file, info)
	} else if has && !other.anchors[fragment] {
		return "has no such anchor", nil
	}
	return "", nil
}

func save(out, target string, text []byte) error {
	name := filepath.Join(out, filepath.FromSlash(target))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

func read(root string) (map[string]*page, error) {
	pages := map[string]*page{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		body, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		p := &page{source: name, target: strings.TrimSuffix(name, ".md") + ".html", body: body, Title: name, anchors: map[string]bool{}}
		if d.Name() == "README.md" {
			p.target = path.Join(path.Dir(name), "index.html")
		}
		for _, m := range named.FindAllSubmatch(body, -1) {
			p.anchors[string(m[1])] = true
		}
		p.walk(func(n ast.Node) {
			h, isHeading := n.(*ast.Heading)
			if !isHeading {
				return
			}
			if h.Level == 1 {
				p.Title = plain(h, body)
			}
			id, _ := h.AttributeString("id")
			p.anchors[string(id.([]byte))] = true
		})
		pages[name] = p
		return nil
	})
	return pages, err
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))

func (p *page) walk(visit func(ast.Node)) ast.Node {
	doc := markdown.Parser().Parse(text.NewReader(p.body), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // visit returns no error
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
	return doc
}

// plain is the text below a node, blocks parted by spaces.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					out.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				out.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(out.String())
}

// render gives the page's HTML and its sections, and notes its links.
func (p *page) render(pages map[string]*page) ([]byte, []section, error) {
	doc := p.walk(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = p.resolve(pages, n.Destination)
		case *ast.Image:
			n.Destination = p.resolve(pages, n.Destination)
		}
	})
	var sections []section
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, isHeading := n.(*ast.Heading); isHeading {
			id, _ := h.AttributeString("id")
			sections = append(sections, section{Page: p.target + "#" + string(id.([]byte)), Title: p.Title, Heading: plain(h, p.body)})
		} else if len(sections) > 0 {
			sections[len(sections)-1].Text += plain(n, p.body) + " "
		}
	}
	var out bytes.Buffer
	err := markdown.Renderer().Render(&out, p.body, doc)
	return out.Bytes(), sections, err
}

// resolve turns a link between files into one between pages.
func (p *page) resolve(pages map[string]*page, destination []byte) []byte {
	link := string(destination)
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return destination
	}
	file, fragment, has := strings.Cut(link, "#")
	if file == "" {
		file = p.source
	} else {
		file = path.Join(path.Dir(p.source), file)
	}
	target := file
	if other := pages[file]; other != nil {
		target = other.target
	} else if folder := pages[path.Join(file, "README.md")]; folder != nil {
		file, target = folder.source, folder.target
	} else if path.Ext(file) == "" && path.Base(file) != "LICENSE" {
		target = path.Join(file, "index.html")
	} else if !shown(file) {
		target = file + ".html"
	}
	if has {
		file, target = file+"#"+fragment, target+"#"+fragment
	}
	p.links = append(p.links, file)
	return []byte(strings.Repeat("../", strings.Count(p.target, "/")) + target)
}

// shown are files that a browser shows itself.
func shown(file string) bool {
	return slices.Contains([]string{".svg", ".png", ".html", ".csv", ".json"}, path.Ext(file))
}

// copied writes a file that a page links to, as a page unless a browser shows it.
func (s *site) copied(file string, info fs.FileInfo) error {
	if info.IsDir() {
		entries, err := os.ReadDir(filepath.Join(s.root, file))
		if err != nil {
			return err
		}
		list := "<h1>" + template.HTMLEscapeString(file) + "</h1><ul>"
		for _, e := range entries {
			if inner, err := e.Info(); err == nil && inner.Mode().IsRegular() {
				name := path.Join(file, e.Name())
				if err := s.copied(name, inner); err != nil {
					return err
				}
				target := e.Name()
				if !shown(name) {
					target += ".html"
				}
				list += `<li><a href="` + template.HTMLEscapeString(target) + `">` + template.HTMLEscapeString(e.Name()) + "</a></li>"
			}
		}
		return s.put(path.Join(file, "index.html"), file, []byte(list+"</ul>"))
	}
	body, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return err
	}
	if shown(file) {
		return save(s.out, file, body)
	}
	return s.put(file+".html", file, []byte("<h1>"+template.HTMLEscapeString(file)+"</h1><pre><code>"+template.HTMLEscapeString(string(body))+"</code></pre>"))
}

type group struct {
	Title string
	Pages []entry
}

type entry struct{ Target, Title string }

func sidebar(pages map[string]*page) []group {
	start := group{Title: "Start", Pages: []entry{{"index.html", "missingscore"}, {"example.html", "Example report"}}}
	out := []group{start}
	for _, g := range groups {
		next := group{Title: g[0], Pages: nil}
		folder := path.Dir(g[1])
		var order []string
		pages[g[1]].walk(func(n ast.Node) {
			if l, isLink := n.(*ast.Link); isLink {
				file, _, _ := strings.Cut(path.Join(folder, string(l.Destination)), "#")
				order = append(order, file)
			}
		})
		var rest []string
		for name := range pages {
			if path.Dir(name) == folder && name != g[1] && !slices.Contains(order, name) {
				rest = append(rest, name)
			}
		}
		slices.Sort(rest)
		done := map[string]bool{}
		for _, name := range append(append([]string{g[1]}, order...), rest...) {
			if p := pages[name]; p != nil && path.Dir(name) == folder && !done[name] {
				done[name] = true
				title := p.Title
				if name == g[1] {
					title = "Overview"
				}
				next.Pages = append(next.Pages, entry{p.target, title})
			}
		}
		out = append(out, next)
	}
	last := group{Title: "Project"}
	for _, name := range []string{"docs/extending.md", "docs/glossary.md", "docs/how-it-is-tested.md", "benchmarks/README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"} {
		if p := pages[name]; p != nil {
			last.Pages = append(last.Pages, entry{p.target, p.Title})
		}
	}
	return append(out, last)
}
