package web

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

//go:embed page.js
var pageJS string

// pageScript returns the script that is evaluated in the isolated world of each document.
func pageScript() string {
	const variable = "const controls = "
	return strings.Replace(pageJS, variable+"CONTROLS;", variable+strconv.Quote(controlSelector())+";", 1)
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
