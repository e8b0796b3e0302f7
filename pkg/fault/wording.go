package fault

import "cmp"

// Wording is how the users of a session write their requests, for hints. What is empty is as on the command line.
type Wording struct {
	ListTools string // which request lists the tools, as a sentence
	GiveArg   string // how an argument of a trail is given; NAME=… follows
}

// ToolsListed returns a hint that says what lists the tools.
func (w Wording) ToolsListed() string {
	return cmp.Or(w.ListTools, "`trailblaze toolbox list` lists the tools of a scope")
}

// ArgGiven returns a hint that says how an argument of a trail is given.
func (w Wording) ArgGiven(name string) string {
	return cmp.Or(w.GiveArg, "pass --arg ") + name + "=…"
}
