package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// leaving is the last revision whose actions did not wait for the pages that they open.
const leaving = "1ab8a69"

// unmodelled is the last revision that could not ask a model.
const unmodelled = "e0c3146"

// earlier compares with the last revision whose tools could not call back.
func (b *bench) earlier() error {
	dir, err := b.project("earlier", b.echo, 1, map[string]string{"one": callTrail(1)})
	if err != nil {
		return err
	}
	return b.comparePairs("`run` of a one-call trail ÷ before tools could call back ("+b.before+")", b.before, 6*b.runs, func(program string) (time.Duration, error) {
		m, err := measure(b.command(dir, program, "run"))
		return m.took, err
	})
}

// browserEarlier compares clicks that lead to no other page, and a trail of them, with the last revision whose actions
// did not wait for pages.
func (b *bench) browserEarlier() error {
	w, err := b.browsing(1)
	if err != nil {
		return err
	}
	defer w.stop()
	const clicks = 150
	trail := trailOf(append([]string{w.navigate()}, slices.Repeat([]string{clickCount}, clicks)...)...)
	dir, err := b.project("earlier-clicks", "", 0, map[string]string{"clicks": trail})
	if err != nil {
		return err
	}
	run := func(dir, program string) (time.Duration, error) {
		cmd := b.command(dir, program, "run")
		cmd.Env = append(cmd.Env, "TRAILBLAZE_BROWSER="+w.browser)
		m, err := measure(cmd)
		return m.took, err
	}
	const before = " ÷ before actions waited for the pages that they open (" + leaving + ")"
	err = b.comparePairs("one click that opens no page"+before, leaving, b.runs, func(program string) (time.Duration, error) {
		if _, err := run(dir, program); err != nil {
			return 0, err
		}
		return callPeriod(filepath.Join(dir, "logs", "latest", "events.ndjson"))
	})
	if err != nil {
		return err
	}
	return b.comparePairs("one trail of eleven calls in a browser"+before, leaving, 2*b.runs, func(program string) (time.Duration, error) {
		return run(w.project, program)
	})
}

// unasked compares trails that ask no model with the last revision that had no models. Keys of models are set: by
// themselves they do nothing.
func (b *bench) unasked() error {
	w, err := b.browsing(1)
	if err != nil {
		return err
	}
	defer w.stop()
	one, err := b.project("unasked", b.echo, 1, map[string]string{"one": callTrail(1)})
	if err != nil {
		return err
	}
	const before = " ÷ before there were models (" + unmodelled + "), keys of models set"
	for _, figure := range []struct {
		name, dir string
		pairs     int
	}{
		{"`run` of a one-call trail" + before, one, 6 * b.runs},
		{"one trail of eleven calls in a browser" + before, w.project, 2 * b.runs},
	} {
		err := b.comparePairs(figure.name, unmodelled, figure.pairs, func(program string) (time.Duration, error) {
			cmd := b.command(figure.dir, program, "run")
			cmd.Env = append(cmd.Env, "TRAILBLAZE_BROWSER="+w.browser, "ANTHROPIC_API_KEY=x", "OPENAI_API_KEY=x", "GEMINI_API_KEY=x")
			m, err := measure(cmd)
			return m.took, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// comparePairs adds a row that compares this program with a revision of it. Two in a hundred is near the noise, so it
// takes many pairs, and the median of their ratios.
func (b *bench) comparePairs(figure, revision string, pairs int, took func(program string) (time.Duration, error)) error {
	const limit = 1.02
	program, err := b.buildRevision(revision)
	if err != nil {
		b.add(figure, "not measured: "+err.Error(), fmt.Sprintf("≤ %.2f", limit), "")
		return nil
	}
	programs := []string{b.trailblaze, program}
	var ratios []float64
	for round := range pairs + 1 {
		var times [2]time.Duration
		for i := range programs {
			if round%2 == 1 {
				i = 1 - i
			}
			if times[i], err = took(programs[i]); err != nil {
				return err
			}
		}
		if round > 0 {
			ratios = append(ratios, float64(times[0])/float64(times[1]))
		}
	}
	slices.Sort(ratios)
	r := ratios[len(ratios)/2]
	b.row(figure, fmt.Sprintf("%.3f (median of %d pairs)", r, len(ratios)), fmt.Sprintf("≤ %.2f", limit), r <= limit)
	return nil
}

// buildRevision builds a revision of this program, in its own folder. A shallow clone may not have it.
func (b *bench) buildRevision(revision string) (program string, err error) {
	source, archive := filepath.Join(b.dir, "at-"+revision), filepath.Join(b.dir, revision+".tar")
	program = filepath.Join(source, "earlier-trailblaze")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := quiet(exec.Command("git", "archive", "-o", archive, revision)); err != nil {
		return "", fmt.Errorf("git has no %s here", revision)
	}
	if err := os.Mkdir(source, 0o755); err != nil {
		return "", err
	}
	if err := quiet(exec.Command("tar", "-xf", archive, "-C", source)); err != nil {
		return "", err
	}
	return program, build(source, program, ".")
}
