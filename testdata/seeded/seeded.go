// Package seeded serves the example shop with changes: faults, which a check must catch, and renames and moves, which
// break recordings of a shop that works. testdata/web/playwright/seeded.mjs is the outside judge of which is which.
package seeded

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/testdata/models"
)

// Change is a change of the shop.
type Change struct {
	Name   string
	Trail  string // that it turns red: the name of a file in trails, without .trail.yaml
	Edits  []Edit
	Orders int           // the status of responses to orders, if it is not 200
	Fact   string        // the first that is wrong for users; empty for a rename
	Calls  []models.Call // what a model proposes in place of the call that fails; "@ROLE NAME" as in models.Rules
	Kept   bool          // a rename that is not healed, because the recording does not tell that it is the same element
}

// Edit replaces a text of pages, which each of them has exactly once.
type Edit struct {
	File     string // a pattern, such as *.html
	Old, New string
}

// Site serves the shop with each of the changes below a path of its name.
type Site struct {
	Pages string      // the folder of the shop's pages
	Sound atomic.Bool // serves the shop without the changes
	index map[string]Change
}

// NewSite returns a site that serves the pages of a folder with changes.
func NewSite(pages string, changes ...[]Change) *Site {
	s := &Site{Pages: pages, index: map[string]Change{}}
	for _, list := range changes {
		for _, c := range list {
			s.index[c.Name] = c
		}
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, file, _ := strings.Cut(strings.TrimPrefix(path.Clean(r.URL.Path), "/"), "/")
	c, ok := s.index[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if s.Sound.Load() {
		c = Change{}
	}
	if file == "orders" {
		w.WriteHeader(max(c.Orders, http.StatusOK))
		fmt.Fprint(w, `{"id": "A-1"}`)
		return
	}
	data, err := os.ReadFile(filepath.Join(s.Pages, filepath.FromSlash(file)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	text, err := c.apply(file, string(data))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, file, time.Time{}, strings.NewReader(text))
}

// Check returns what is wrong with a change: an edit that fits no page, or not exactly once.
func (c Change) Check(pages string) error {
	for _, e := range c.Edits {
		files, err := filepath.Glob(filepath.Join(pages, e.File))
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("%s: %s is not there", c.Name, e.File)
		}
		if err != nil {
			return err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if _, err := c.apply(filepath.Base(file), string(data)); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply returns the text of a page with the edits of a change.
func (c Change) apply(file, text string) (string, error) {
	for _, e := range c.Edits {
		if fits, err := path.Match(e.File, file); err != nil || !fits {
			continue
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return "", fmt.Errorf("%s: %s has %q %d times", c.Name, file, e.Old, n)
		}
		text = strings.Replace(text, e.Old, e.New, 1)
	}
	return text, nil
}

// TrailOf returns the trail that meets a change, as the content of a file.
func (c Change) TrailOf(folder string) (string, error) {
	data, err := os.ReadFile(filepath.Join(folder, c.Trail+".trail.yaml"))
	return strings.ReplaceAll(string(data), "CHANGE", c.Name), err
}
