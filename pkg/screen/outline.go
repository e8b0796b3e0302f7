package screen

import (
	"slices"
	"strings"
)

// The parts of an outline, the most useful first.
const (
	news          = iota // what a page says that is shown once more
	controlInMain        // a control, a heading or a message in the main landmark, or anywhere when there is none
	controlBeside
	textInMain
	noPart
	textBeside // is shown only as news
)

// leadingTexts is how many texts of the main landmark count as its messages: most pages have theirs at the top.
const leadingTexts = 2

// outline writes the lines of a screen that are most useful, flat and in their order, in at most maxBytes bytes, each
// after a newline. The first line says how many elements there are. before has the lines of the screen before.
func outline(before, lines []Line, maxBytes int) string {
	head := ", a part of its " + elements(len(lines)) + "; see snapshot"
	room := maxBytes - len(head)
	parts := partsOf(lines)
	markNews(parts, before, lines)
	kept := make([]string, len(lines))
	for part := range noPart {
		for i, line := range lines {
			if parts[i] != part {
				continue
			}
			text := "\n" + line.Node.outlineLine(line.Ref)
			if room -= len(text); room < 0 {
				return head + strings.Join(kept, "")
			}
			kept[i] = text
		}
	}
	return head + strings.Join(kept, "")
}

// markNews changes the part of lines that the screen before did not have, if it had most of the others: the answer to a
// form is the page of the form, with a message.
func markNews(parts []int, before, lines []Line) {
	known := map[string]int{}
	for _, l := range before {
		known[l.Node.line("")]++
	}
	var added []int
	shown := 0
	for i, l := range lines {
		if parts[i] == noPart {
			continue
		}
		shown++
		text := l.Node.line("")
		if known[text]--; known[text] < 0 {
			added = append(added, i)
		}
	}
	if 2*len(added) > shown {
		return
	}
	for _, i := range added {
		parts[i] = news
	}
}

// partsOf returns the part of an outline that each line belongs to.
func partsOf(lines []Line) []int {
	hasMain := slices.ContainsFunc(lines, func(l Line) bool { return l.Node.RoleName() == "main" })
	parts := make([]int, len(lines))
	leading := leadingTexts
	mainDepth := -1 // of the main landmark around the line; -1 outside of it
	for i, l := range lines {
		role := l.Node.RoleName()
		if mainDepth >= 0 && l.Depth <= mainDepth {
			mainDepth = -1
		}
		if role == "main" {
			mainDepth = l.Depth
		}
		inMain := mainDepth >= 0 || !hasMain
		switch {
		case role == "option", role == "heading" && isNamedByNext(lines[i:]), l.Node.Hidden:
			parts[i] = noPart
		case IsStructural(role) && l.Node.caption() == "":
			parts[i] = noPart // its texts and controls have lines of their own
		case l.Node.isTarget() || slices.Contains([]string{"heading", "alert", "status"}, role) && l.Node.caption() != "":
			parts[i] = controlBeside
			if inMain {
				parts[i] = controlInMain
			}
		case l.Node.caption() == "" || i+1 < len(lines) && lines[i+1].Depth > l.Depth:
			parts[i] = noPart
		case mainDepth >= 0 && leading > 0:
			parts[i], leading = controlInMain, leading-1
		case inMain:
			parts[i] = textInMain
		default:
			parts[i] = textBeside
		}
	}
	return parts
}

// isNamedByNext reports whether the second line is a control inside the first one with the same name.
func isNamedByNext(lines []Line) bool {
	if len(lines) < 2 || lines[1].Depth <= lines[0].Depth {
		return false
	}
	control := lines[1].Node
	return control.isTarget() && control.Name() == lines[0].Node.Name()
}

// outlineLine returns n as a line of an outline: without a content that only repeats what the control is for.
func (n *Node) outlineLine(ref string) string {
	content := n.Content()
	if n.isTarget() && n.Name() != "" && !n.Editable && !IsTextInput(n.RoleName()) && n.RoleName() != "combobox" {
		content = ""
	}
	return n.lineWithName(ref, n.Name(), content)
}
