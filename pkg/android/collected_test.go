package android

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/phones/collected"
)

// What phones answered to the shell commands of sessions is read.
func TestCollectedAnswers(t *testing.T) {
	t.Parallel()
	eachAnswer(t, "wm.txt", func(t *testing.T, data []byte) {
		width, height, ok := parseSize(string(data))
		if !ok || width <= 0 || height <= 0 || parseDensity(string(data)) <= 0 {
			t.Errorf("%s", data)
		}
	})
	eachAnswer(t, "activities.txt", func(t *testing.T, data []byte) {
		if apps := parseResumed(string(data)); len(apps) == 0 || !strings.Contains(apps[0], ".") {
			t.Errorf("%q in %s", apps, data)
		}
	})
	eachAnswer(t, "input_method.txt", func(t *testing.T, data []byte) {
		if shown, _ := parseInputShown(string(data)); shown && parseInputArea(string(data), 1, 1) == nil {
			t.Errorf("a keyboard without an area: %s", data)
		}
	})
}

// eachAnswer calls check with a file of each archive that has it.
func eachAnswer(t *testing.T, name string, check func(t *testing.T, data []byte)) {
	t.Helper()
	answers, err := collected.Answers(name)
	if err != nil {
		t.Error(err)
	}
	for device, data := range answers {
		t.Run(device+" "+name, func(t *testing.T) {
			t.Parallel()
			check(t, data)
		})
	}
}
