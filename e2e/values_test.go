//go:build unix

package e2e_test

import "testing"

// TestValuesFitWhatToolsTake has a number from memory where a tool takes text, and text where one takes a number.
func TestValuesFitWhatToolsTake(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": webTrail("rememberValue: { name: order, value: { id: 4711 } }",
			`echo: { text: "{{order.id}}" }`, `wait: { seconds: "{{pause}}" }`),
	})
	if r := p.run("run", "--json", "--memory", "pause=0"); r.code != 0 || texts(t, r) != "4711" {
		t.Errorf("exit code %d\n%s", r.code, r.stdout)
	}
	p.run("run", "--memory", "pause=a while").want(t, 1, "wait: seconds must be a number, not text")
	p.write("trails/a.trail.yaml", webTrail("echo: { text: 4711 }"))
	p.run("run").want(t, 1, "echo: text must be text, not a number")
}

func TestValuesFitTheArgumentsOfUsedTrails(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"parts/say.yaml": "config: { args: { word: {}, count: { type: integer } } }\ntrail:\n" +
			"  - step: say\n    recording:\n      web:\n        - echo: { text: \"{{args.word}}\" }\n" +
			"        - wait: { seconds: \"{{args.count}}\" }\n",
		"trails/a.trail.yaml": "config: { memory: { word: 4711, none: '0' } }\ntrail:\n" +
			"  - use: parts/say.yaml\n    args: { word: \"{{word}}\", count: \"{{none}}\" }\n",
	})
	if r := p.run("run", "--json"); r.code != 0 || texts(t, r) != "4711" {
		t.Errorf("exit code %d\n%s", r.code, r.stdout)
	}
	p.run("run", "--memory", "none=00").want(t, 1, "argument count is text, expected a whole number")
}
