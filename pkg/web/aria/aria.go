// Package aria turns a browser's accessibility tree into the lines of Playwright's ARIA snapshot, and says what the references e1,
// e2, … in a recording mean (specification, section 15.1). Data in, lines out: it knows no browser.
package aria
