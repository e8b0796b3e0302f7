// Package history has a finished session as the page of the studio looks back at it.
package history
