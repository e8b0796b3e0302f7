// Package bundle makes one JavaScript text of a script and everything that it imports, and remembers what it made.
package bundle
