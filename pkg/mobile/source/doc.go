// Package source reads the screen of a phone as automation servers write it.
package source
