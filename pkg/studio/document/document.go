// Package document has the trail that is edited in the studio: its text, operations on steps and calls, undo and redo.
// Data in, data out.
package document
