//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

var update = flag.Bool("update", false, "write the table of docs/coming-from-playwright.md")

// playwright is the folder of Playwright Test and of what it runs.
const playwright = "../testdata/web/playwright/"

// behaviour is one of testdata/web/playwright/behaviours.yaml.
type behaviour struct {
	Name, Chapter, Page string
	Playwright          string
	Calls               []yaml.MapSlice
	Device              string // a key of devicesOfBehaviours
	Outcome             string // passed if it is empty
	Reason              string // a part of the message of the trail that fails
}

// devicesOfBehaviours are the options of the browser. behaviours.spec.mjs has the same.
var devicesOfBehaviours = map[string]string{
	"": "{}",
	"emulated": `
    locale: de-DE
    timezone: Asia/Tokyo
    geolocation: { latitude: 52.5, longitude: 13.4 }
    permissions: [geolocation]
    colorScheme: dark
    userAgent: Shop/1
    deviceScaleFactor: 2
    touch: true
    extraHeaders: { X-Shop: "yes" }`,
	"phone": "{ preset: iPhone 15 }",
	// What fails needs no time.
	"failed": "{ actionTimeout: 500ms, assertionTimeout: 500ms }",
}

// Playwright Test and trails do the same on the same pages. A short run leaves out Playwright Test, which does not
// change with this project, and traces, and has several behaviours in one trail.
func TestBehavesLikePlaywrightTest(t *testing.T) {
	t.Parallel()
	all := behaviours(t)
	site := siteOfBehaviours(t, all)
	want := map[string]string{}
	for _, b := range all {
		want[b.Name] = b.Outcome
	}
	for name, run := range map[string]func(*testing.T, string, []behaviour) []outcome{
		"Playwright Test": playwrightOutcomes, "trails": trailOutcomes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "trails" {
				t.Skip("a short run")
			}
			got := map[string]string{}
			for _, o := range run(t, site, all) {
				got[o.Name] = o.Outcome
				if o.Outcome != want[o.Name] {
					t.Errorf("%s: %s %s", o.Name, o.Outcome, o.Reason)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

// outcome is how a behaviour ended, and why if it failed.
type outcome struct{ Name, Outcome, Reason string }

func behaviours(t *testing.T) []behaviour {
	t.Helper()
	text, err := os.ReadFile(playwright + "behaviours.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []behaviour
	if err := yaml.UnmarshalWithOptions(text, &all, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].Outcome == "" {
			all[i].Outcome = "passed"
		}
	}
	return all
}

// onSite returns a text of a behaviour with the URLs of the site.
func (b behaviour) onSite(site string, i int, text string) string {
	return strings.NewReplacer("BASE", site, "PAGE", fmt.Sprintf("%s/%d/", site, i)).Replace(text)
}

// siteOfBehaviours serves the page of behaviour N as /N/, and what the pages ask for.
func siteOfBehaviours(t *testing.T, all []behaviour) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for i, b := range all {
		mux.HandleFunc(fmt.Sprintf("/%d/", i), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html>", b.onSite(server.URL, i, b.Page))
		})
	}
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>Other</title>")
	})
	mux.HandleFunc("/api", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"user": "Real"}`)
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "X-Shop ", r.Header.Get("X-Shop"))
	})
	mux.HandleFunc("/answer", func(w http.ResponseWriter, r *http.Request) {
		select { // long enough for a look at the page before
		case <-time.After(200 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "state", Value: "answered", Path: "/"})
		fmt.Fprint(w, "<!doctype html><h1>Payment failed</h1>")
	})
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/answer", http.StatusSeeOther)
	})
	mux.HandleFunc("/state", func(w http.ResponseWriter, r *http.Request) {
		state := "not yet"
		if c, err := r.Cookie("state"); err == nil {
			state = c.Value
		}
		fmt.Fprint(w, "<!doctype html><h1>", state, "</h1>")
	})
	mux.HandleFunc("/download", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="report.txt"`)
		fmt.Fprint(w, "report")
	})
	return server.URL
}

// playwrightOutcomes runs the behaviours with Playwright Test.
func playwrightOutcomes(t *testing.T, site string, all []behaviour) []outcome {
	t.Helper()
	runs := make([]map[string]string, len(all))
	for i, b := range all {
		runs[i] = map[string]string{
			"name": b.Name, "url": b.onSite(site, i, "PAGE"), "device": b.Device, "outcome": b.Outcome,
			"code": b.onSite(site, i, b.Playwright),
		}
	}
	encoded, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(playwright)
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, map[string]string{"note.txt": "hello"})
	c := exec.CommandContext(t.Context(), "node", filepath.Join(folder, "node_modules/@playwright/test/cli.js"),
		"test", "-c", filepath.Join(folder, "behaviours.config.mjs"))
	c.Dir = p.dir
	results := filepath.Join(p.dir, "results")
	c.Env = append(p.env, "TRAILBLAZE_BROWSER="+spawntest.Chromium(t), "BEHAVIOURS="+string(encoded),
		"BEHAVIOURS_OUTPUT="+filepath.Join(p.dir, "output"), "BEHAVIOURS_RESULTS="+results)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	spawntest.NoSurvivors(t, p.marker)
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var got []outcome
	for line := range bytes.Lines(text) {
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatal(err)
		}
		got = append(got, o)
	}
	return got
}

// trailOutcomes runs the behaviours as trails, those with the same options of the browser in one run.
func trailOutcomes(t *testing.T, site string, all []behaviour) []outcome {
	t.Helper()
	var got []outcome
	for device, options := range devicesOfBehaviours {
		p := newProject(t, map[string]string{
			"trailblaze.yaml": webConfig + "device:\n  web: " + options + "\n", "note.txt": "hello",
		})
		trails := trailsOfBehaviours(all, device)
		for i, trail := range trails {
			p.write(fmt.Sprintf("trails/%d.trail.yaml", i), trailFile(t, site, all, trail))
		}
		args := []string{"run", "--json", "--workers", "2", "--browser", spawntest.Chromium(t)}
		if testing.Short() {
			args = append(args, "--trace", "off")
		}
		r := p.run(args...)
		for _, e := range ofType(r.events(t), "trail.finished") {
			file := filepath.Base(fmt.Sprint(e["file"]))
			i, err := strconv.Atoi(strings.TrimSuffix(file, ".trail.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			reason := fmt.Sprint(e["reason"])
			for _, b := range trails[i] {
				if !strings.Contains(reason, all[b].Reason) {
					t.Errorf("%s: %q is missing in: %s", all[b].Name, all[b].Reason, reason)
				}
				got = append(got, outcome{all[b].Name, fmt.Sprint(e["outcome"]), reason})
			}
		}
		spawntest.NoSurvivors(t, p.marker)
	}
	return got
}

// trailsOfBehaviours returns which behaviours of a group are in which trail. In a short run, up to ten that pass and
// leave nothing but their page are in one trail.
func trailsOfBehaviours(all []behaviour, group string) [][]int {
	var trails [][]int
	var shared []int
	for i, b := range all {
		switch {
		case b.group() != group:
		case !testing.Short() || b.Outcome == "failed" || b.Chapter == "Network" || b.Chapter == "Pages":
			trails = append(trails, []int{i})
		default:
			shared = append(shared, i)
		}
	}
	return slices.AppendSeq(trails, slices.Chunk(shared, 10))
}

// group returns the key of the options that a behaviour's trail runs with.
func (b behaviour) group() string {
	if b.Device == "" && b.Outcome == "failed" {
		return "failed"
	}
	return b.Device
}

// trailFile returns the file of a trail with a step for each of some behaviours.
func trailFile(t *testing.T, site string, all []behaviour, behaviours []int) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "config: { title: %q }\ntrail:\n", all[behaviours[0]].Name)
	for _, i := range behaviours {
		b := all[i]
		open := yaml.MapSlice{{Key: "web_navigate", Value: map[string]string{"url": "PAGE"}}}
		step, err := yaml.Marshal([]any{map[string]any{
			"step": b.Name, "recording": map[string]any{"web": append([]yaml.MapSlice{open}, b.Calls...)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(b.onSite(site, i, string(step)))
	}
	return text.String()
}

// The documentation lists the behaviours.
func TestBehavioursAreDocumented(t *testing.T) {
	t.Parallel()
	const page = "../docs/coming-from-playwright.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), "-update -->\n")
	_, after, ends := strings.Cut(rest, "<!-- end of")
	if !begins || !ends {
		t.Fatal("the marks of the table are missing")
	}
	want := before + "-update -->\n" + tableOfBehaviours(behaviours(t)) + "<!-- end of" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("run this test with -update (-want +got):\n%s", diff)
	}
}

// tableOfBehaviours returns Markdown: a table for each chapter.
func tableOfBehaviours(all []behaviour) string {
	var out strings.Builder
	chapter := ""
	for _, b := range all {
		if b.Chapter != chapter {
			chapter = b.Chapter
			fmt.Fprintf(&out, "\n### %s\n\n| behaviour | in a trail | |\n|---|---|---|\n", chapter)
		}
		outcome := ""
		if b.Outcome == "failed" {
			outcome = "fails"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", b.Name, strings.Join(b.commands(), ", "), outcome)
	}
	out.WriteString("\n")
	return out.String()
}

// commands returns the names of the commands that a behaviour's trail calls.
func (b behaviour) commands() []string {
	var names []string
	for _, call := range b.Calls {
		if name := fmt.Sprintf("`%s`", call[0].Key); !slices.Contains(names, name) && name != "`assertEquals`" {
			names = append(names, name)
		}
	}
	return names
}
