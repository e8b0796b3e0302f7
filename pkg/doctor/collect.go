package doctor

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// Collected is what the archive of a device has.
type Collected struct {
	device.Collection
	Kind     string // of device
	Version  string // of trailblaze
	Time     time.Time
	WithText bool
	Redact   func(text string) string // replaces secrets
}

// answerView is an answer in answers.json.
type answerView struct {
	File     string `json:"file"`
	Question string `json:"question"`
	Millis   int64  `json:"millis"`
	Bytes    int    `json:"bytes"`
	Error    string `json:"error,omitempty"`
}

// Write writes the archive, a zip: each answer as a file, what was asked and how long that took, and a README that says
// what was replaced.
func (c Collected) Write(w io.Writer) error {
	archive := zip.NewWriter(w)
	add := func(name, text string) error {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: c.Time})
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, c.clean(text))
		return err
	}
	if err := add("README.txt", c.readme()); err != nil {
		return err
	}
	views := make([]answerView, len(c.Answers))
	for i, a := range c.Answers {
		views[i] = answerView{File: a.File, Question: c.clean(a.Question), Millis: a.Took.Milliseconds(), Bytes: len(a.Data)}
		if a.Err != nil {
			views[i].Error = c.clean(a.Err.Error())
		}
	}
	list, err := json.MarshalIndent(views, "", "  ")
	if err != nil {
		return err
	}
	if err := add("answers.json", string(list)+"\n"); err != nil {
		return err
	}
	for _, a := range c.Answers {
		if len(a.Data) == 0 {
			continue
		}
		if err := add(a.File, string(a.Data)); err != nil {
			return err
		}
	}
	return archive.Close()
}

// clean replaces secrets and what identifies the device, longer texts first.
func (c Collected) clean(text string) string {
	if c.Redact != nil {
		text = c.Redact(text)
	}
	var pairs []string
	longerFirst := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(c.Replace), longerFirst) {
		pairs = append(pairs, name, c.Replace[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func (c Collected) readme() string {
	texts := "The texts of the screen were replaced: each letter by one of its script and case, each digit by 0. Their lengths\n" +
		"stay. Classes, ids, positions and states are as they were."
	if c.WithText {
		texts = "The texts of the screen are as they were (--with-text)."
	}
	var list strings.Builder
	for _, a := range c.Answers {
		size := fmt.Sprintf("%d bytes in %d ms", len(a.Data), a.Took.Milliseconds())
		if a.Err != nil {
			size = "no answer, see answers.json"
		}
		fmt.Fprintf(&list, "  %-22s %s: %s\n", a.File, a.Question, size)
	}
	return fmt.Sprintf(`What a device answers
=====================

Device:      %s (%s)
Collected:   %s
trailblaze:  %s

%s
The serial, the id and the name of the device, its address in the network, and secrets of the project were replaced.
Package names of apps and names of activities were not.
Please look through the files before you send them.

%s`, cmp.Or(c.Product, "not known"), c.Kind, c.Time.UTC().Format("2006-01-02"), c.Version, texts, list.String())
}
