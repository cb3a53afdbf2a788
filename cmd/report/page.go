package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"
)

// Style is the sheet that all reports share.
//
//go:embed page/page.css
var Style template.CSS

//go:embed page/explorer.css page/picture.css page/*.js page/*.tmpl *.tmpl
var files embed.FS

// scripts are the parts of the page's program, in the order in which they need each other.
var scripts = []string{"data", "words", "stage", "view", "pick", "pointer", "tables", "path", "controls", "download", "start"}

// script is the page's program. It runs in a scope of its own.
var script = func() string {
	var b strings.Builder
	b.WriteString("\n(() => {\n\"use strict\";\n")
	for _, name := range scripts {
		b.WriteString(text("page/" + name + ".js"))
	}
	b.WriteString("})();\n")
	return b.String()
}()

// policy forbids the page all but its own style and its own program, whose hash is given:
// nothing is fetched or sent, and a script that came in by a name would not run.
var policy = func() string {
	hash := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}()

// text is an embedded file, which is always there.
func text(name string) string {
	content, err := files.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(content)
}

// parsed is a page's template with the parts that pages share.
func parsed(name string) *template.Template {
	return template.Must(template.New(name).Funcs(reading).ParseFS(files, name, "page/*.tmpl"))
}
