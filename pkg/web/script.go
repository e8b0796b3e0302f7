package web

import (
	"cmp"
	_ "embed"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

//go:embed dist/page.js
var pageJS string

// pageScript returns page.js, which is evaluated in the isolated world of each document. testID is the name of the
// attribute with the test id of an element.
func pageScript(testID string) string {
	return strings.NewReplacer(
		"CONTROLS", strconv.Quote(controlSelector()),
		"TEST_ID_ATTRIBUTE", strconv.Quote(testID),
	).Replace(pageJS)
}

// defaultTestID is the attribute that Playwright's selectors mean, too.
const defaultTestID = "data-testid"

var attributeName = lazyregexp.New(`^[A-Za-z_][\w-]*$`)

// readTestID returns the attribute with the test ids of elements.
func readTestID(given string) (string, error) {
	name := cmp.Or(given, defaultTestID)
	if !attributeName().MatchString(name) {
		return "", fault.New(fault.Misuse, "write it like data-cy", "testIdAttribute: %q is not the name of an attribute", name)
	}
	return name, nil
}

// controlSelector returns a CSS selector for the elements that a person can use.
func controlSelector() string {
	selectors := []string{"button, a[href], input:not([type=hidden]), select, textarea, summary, [contenteditable]"}
	for _, role := range screen.Roles() {
		if screen.IsControl(role) {
			selectors = append(selectors, "[role="+role+"]")
		}
	}
	return strings.Join(selectors, ", ")
}
