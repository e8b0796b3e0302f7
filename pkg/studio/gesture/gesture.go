// Package gesture turns what a person did on the picture of a screen into calls, and names the checks that fit an element.
// Data in, data out.
package gesture
