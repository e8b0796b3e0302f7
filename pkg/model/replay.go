package model

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// maxTranscript is the size of a transcript that is read: pictures are the largest part.
const maxTranscript = 64 << 20

// Replay is a Model that takes its answers from transcripts, in their order for each trail, step and kind. It contacts
// nothing. It may be used by any goroutine.
type Replay struct {
	dir string

	mu      sync.Mutex
	answers map[Task][]Exchange
}

// NewReplay reads transcripts. dir is the folder llm of a session, or a folder with such folders or with folders of
// sessions. Its errors are of kind Misuse or Transcript.
func NewReplay(dir string) (*Replay, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fault.New(fault.Misuse, "name the folder llm of a session, or a folder with sessions", "%s is not a folder with transcripts", dir)
	}
	r := &Replay{dir: dir, answers: map[Task][]Exchange{}}
	seen := map[string]bool{} // by a link, such as latest, a folder is there twice
	for _, pattern := range []string{"*.json", "*/*.json", "*/llm/*.json"} {
		paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fault.Wrap(fault.IO, err, "", dir)
		}
		for _, path := range paths {
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				return nil, fault.Wrap(fault.Transcript, err, "remove the file, or record again", "a transcript cannot be read")
			}
			if seen[real] {
				continue
			}
			seen[real] = true
			if err := r.read(real); err != nil {
				return nil, err
			}
		}
	}
	for _, answers := range r.answers { // 1000.json comes after 999.json
		slices.SortStableFunc(answers, func(a, b Exchange) int {
			return cmp.Or(strings.Compare(filepath.Dir(a.File), filepath.Dir(b.File)), a.N-b.N)
		})
	}
	if len(r.answers) == 0 {
		return nil, fault.New(fault.Misuse, "name the folder llm of a session, or a folder with sessions", "%s contains no transcripts", dir)
	}
	return r, nil
}

// escapeGlob returns a pattern that matches a path alone.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' { // where nothing can be escaped
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (r *Replay) read(path string) error {
	if !transcriptName().MatchString(filepath.Base(path)) {
		return nil
	}
	data, err := files.Read(path, maxTranscript)
	if err != nil {
		return fault.Wrap(fault.Transcript, err, "remove the file, or record again", "a transcript cannot be read")
	}
	x := Exchange{File: path}
	if err := json.Unmarshal(data, &x); err != nil || x.Task.Kind == "" {
		return fault.New(fault.Transcript, "remove the file, or record again", "%s is not a transcript", path)
	}
	if x.Answer != nil { // a request that failed has none
		r.answers[x.Task] = append(r.answers[x.Task], x)
	}
	return nil
}

// Ask implements Model. Its errors are of kind Transcript. A replayed answer costs nothing.
func (r *Replay) Ask(_ context.Context, q Request) (Answer, Usage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.answers[q.Task]
	if len(left) == 0 {
		return Answer{}, Usage{}, fault.New(fault.Transcript, "run it with a model, and use the llm folder of that session",
			"%s has no further answer for %s", r.dir, q.Task)
	}
	x := left[0]
	r.answers[q.Task] = left[1:]
	now := map[string]string{}
	for _, ref := range slices.Sorted(maps.Keys(x.Elements)) {
		element := ""
		if q.Element != nil {
			element = q.Element(ref)
		}
		if sameElement(element, x.Elements[ref]) {
			continue
		}
		if q.Reference != nil {
			now[ref] = q.Reference(x.Elements[ref])
		}
		if now[ref] == "" {
			return Answer{}, Usage{}, fault.New(fault.Transcript, "the app changed since it was recorded: run it with a model again",
				"%s: %s was %s and is %s now", x.File, ref, x.Elements[ref], text.Shorten(orNothing(element), 200))
		}
	}
	return withReferences(*x.Answer, now), Usage{}, nil
}

func orNothing(element string) string {
	if element == "" {
		return "not on the screen"
	}
	return element
}

// String returns the task for messages.
func (t Task) String() string {
	s := t.Kind
	if t.Step != "" {
		s += " " + t.Step
	}
	if t.Trail != "" {
		s += " of " + t.Trail
	}
	return s
}
