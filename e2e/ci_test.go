//go:build unix

package e2e_test

import (
	"regexp"
	"testing"
)

// TestToolOutputCannotContainCICommands prints results and errors of a tool that look like commands of CI runners.
func TestToolOutputCannotContainCICommands(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile(`(?m)^\s*::|##(vso|teamcity)?\[`)
	annotation := regexp.MustCompile(`(?m)^::error (file=trails/a\.trail\.yaml,line=5,title=a::step 1: fail|title=trailblaze run::the run did not start: )%0A`)
	const text = "one\n::set-output name=x::1\n \u00a0::stop-commands::y\n##[error]bad\nsee ##vso[task.setvariable variable=PATH]/tmp"
	for _, variable := range []string{"CI=true", "GITHUB_ACTIONS=true", "TF_BUILD=True"} {
		p := newProject(t, map[string]string{
			"trailblaze.yaml":     okProject,
			"trails/a.trail.yaml": "trail:\n  - step: fail\n    recording:\n      web:\n        - assertEquals: { expected: x, actual: \"::error::y\\n##[x]\" }\n",
		})
		p.env = append(p.env, variable)
		for name, r := range map[string]result{
			"a result": p.run("tool", "echo", "text="+text), "a result as JSON": p.run("tool", "echo", "--json", "text="+text),
			"an error": p.run("tool", "fail", "text="+text), "a run": p.run("run", "--verbose"), "a run as JSON": p.run("run", "--json"),
			"misuse": p.run("run", "\n::error::x"), "an unknown tool": p.run("tool", "\n##[x"),
		} {
			if found := commands.FindAllString(r.stdout+"\n"+annotation.ReplaceAllString(r.stderr, ""), -1); found != nil {
				t.Errorf("%s, %s: commands %q in\n%s\n%s", variable, name, found, r.stdout, r.stderr)
			}
		}
	}
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject})
	p.env = append(p.env, "GITHUB_ACTIONS=", "TF_BUILD=", "TEAMCITY_VERSION=")
	if r := p.run("tool", "echo", "text="+text); !commands.MatchString(r.stdout) {
		t.Errorf("without CI the text has changed: %s", r.stdout)
	}
}
