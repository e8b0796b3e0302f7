package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLinksOfPages checks that the files and headings exist to which the pages at the root and in docs link.
func TestLinksOfPages(t *testing.T) {
	t.Parallel()
	pages := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range pages {
		for _, to := range linksOf(t, page) {
			links++
			file, heading, _ := strings.Cut(to, "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s does not exist", page, to)
			} else if heading != "" && !slices.Contains(headings(t, target), heading) {
				t.Errorf("%s: %s: there is no such heading", page, to)
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inCode  = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	address = regexp.MustCompile(`^[a-z]+:`)
	title   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// linksOf are a page's links to files and headings, not those to addresses.
func linksOf(t *testing.T, page string) []string {
	t.Helper()
	text := inCode.ReplaceAllString(fenced.ReplaceAllString(readText(t, page), ""), "code")
	var links []string
	for _, found := range link.FindAllStringSubmatch(text, -1) {
		if !address.MatchString(found[1]) {
			links = append(links, found[1])
		}
	}
	return links
}

// headings are the names of a page's headings as links write them.
func headings(t *testing.T, page string) []string {
	t.Helper()
	var names []string
	for _, found := range title.FindAllStringSubmatch(fenced.ReplaceAllString(readText(t, page), ""), -1) {
		names = append(names, strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return names
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
