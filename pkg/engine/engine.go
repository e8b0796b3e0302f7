// Package engine runs a bundle in a JavaScript engine inside our own process, as if it were a process of its own.
package engine
