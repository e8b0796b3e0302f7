// Package page has the page of the studio, bundled from TypeScript.
package page
