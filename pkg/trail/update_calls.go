package trail

import (
	"cmp"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// setCalls writes the calls of want for a classifier into stepNode, the mapping of the step have in the document. Calls
// that are equal stay as they are.
func setCalls(edit *yamldoc.Editor, stepNode yamldoc.Node, have, want *Step, classifier string) {
	if sameCalls(have, want, classifier) {
		return
	}
	calls, _ := want.Recording.calls(classifier)
	old, _ := have.Recording.calls(classifier)
	key := cmp.Or(classifier, "tools")
	if list, ok := ownCalls(stepNode, want.Kind, key); ok {
		updateCalls(edit, list, old, calls)
		return
	}
	value := each(calls, formatCall)
	if want.Kind == KindTools {
		edit.Set(stepNode, key, value)
		return
	}
	if recording, ok := field(stepNode, "recording"); ok && len(recording.Entries()) > 0 {
		edit.Set(recording, key, value)
		return
	}
	edit.Set(stepNode, "recording", yamldoc.Map{{Key: key, Value: value}})
}

// ownCalls returns the list with the calls of a step for a classifier, or below tools. ok is false when it is not
// written in the step itself.
func ownCalls(stepNode yamldoc.Node, kind, key string) (list yamldoc.Node, ok bool) {
	if stepNode.Kind() == yamldoc.List { // the whole file
		return stepNode, true
	}
	mapping, ok := stepNode, true
	if kind != KindTools {
		mapping, ok = stepNode.Own("recording")
	}
	if ok {
		list, ok = mapping.Own(key)
	}
	return list, ok && list.Kind() == yamldoc.List && !list.IsAlias()
}

// updateCalls replaces the calls of a list. A call of the same tool with other arguments is changed in place.
func updateCalls(edit *yamldoc.Editor, list yamldoc.Node, old, calls []Call) {
	matched := matchCalls(calls, old)
	nodes := list.Items()
	for i, have := range matched {
		if have < 0 || sameCall(calls[i], old[have]) {
			continue
		}
		if a, b := writtenFields(nodes[have], old[have], calls[i]), fields(calls[i]); canUpdate(nodes[have], a, b) {
			updateMapping(edit, nodes[have], a, b)
		} else {
			matched[i] = -1
		}
	}
	change := newListEdit(list, len(old))
	change.replace(matched, each(calls, formatCall))
	change.apply(edit)
}

// matchCalls returns, for each call, the index of the old call that it continues, or -1: equal calls first, then
// between those the calls of the same tool.
func matchCalls(calls, old []Call) []int {
	matched := match(calls, old, sameCall)
	sameTool := func(a, b Call) bool { return a.Tool == b.Tool }
	from := 0
	for i := 0; i < len(matched); i++ {
		if matched[i] >= 0 {
			from = matched[i] + 1
			continue
		}
		end, to := i, len(old)
		for end < len(matched) && matched[end] < 0 {
			end++
		}
		if end < len(matched) {
			to = matched[end]
		}
		for j, have := range match(calls[i:end], old[from:to], sameTool) {
			if have >= 0 {
				matched[i+j] = from + have
			}
		}
		i = end - 1
	}
	return matched
}

func sameCall(a, b Call) bool {
	return a.Tool == b.Tool && a.SaveAs == b.SaveAs && a.Timeout == b.Timeout && a.Optional == b.Optional && a.Soft == b.Soft &&
		sameValue(a.Args, b.Args)
}

// sameValue reports whether values are the same in a file.
func sameValue(a, b any) bool {
	x, errX := yamldoc.Encode(a)
	y, errY := yamldoc.Encode(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// fields returns the mapping that a call is in a file.
func fields(c Call) map[string]any {
	out := map[string]any{c.Tool: c.Args}
	if c.SaveAs != "" {
		out["saveAs"] = c.SaveAs
	}
	if c.Timeout != 0 {
		out["timeout"] = c.Timeout.String()
	}
	if c.Optional {
		out["optional"] = true
	}
	if c.Soft {
		out["soft"] = true
	}
	return out
}

// writtenFields returns the mapping that a call is in a file, with soft: false or optional: false where another call
// cannot have them.
func writtenFields(mapping yamldoc.Node, c, other Call) map[string]any {
	out := fields(c)
	for key, mustGo := range map[string]bool{"soft": other.Optional, "optional": other.Soft} {
		if _, written := mapping.Own(key); written && mustGo && out[key] == nil {
			out[key] = false
		}
	}
	return out
}

// canUpdate reports whether updateMapping can change a mapping: a key stays, and the keys that go are written in it.
func canUpdate(mapping yamldoc.Node, old, values map[string]any) bool {
	stays := false
	for key := range old {
		_, wanted := values[key]
		_, own := mapping.Own(key)
		if !wanted && !own {
			return false
		}
		stays = stays || wanted && own
	}
	return stays
}

// updateMapping changes the values of a mapping from old to values. Values that are equal stay as they are.
func updateMapping(edit *yamldoc.Editor, mapping yamldoc.Node, old, values map[string]any) {
	gone := slices.DeleteFunc(sortedKeys(old), func(key string) bool {
		_, wanted := values[key]
		return wanted
	})
	var added yamldoc.Map
	for _, key := range sortedKeys(values) {
		value := values[key]
		have, there := old[key]
		node, own := mapping.Own(key)
		a, wasMapping := have.(map[string]any)
		b, isMapping := value.(map[string]any)
		switch {
		case there && sameValue(have, value):
		case own && wasMapping && isMapping && canUpdate(node, a, b):
			updateMapping(edit, node, a, b)
		case own:
			edit.Set(mapping, key, value)
		default:
			added = append(added, yamldoc.Pair{Key: key, Value: value})
		}
	}
	edit.ReplaceKeys(mapping, gone, added)
}

// maxMatch limits the time and memory of match: the product of the numbers of items that differ.
const maxMatch = 4_000_000

// match returns a longest common subsequence: for each item, the index of the old item that it is the same as, or -1.
// When too many items differ, only those at the start and the end are matched.
func match[T any](items, old []T, same func(a, b T) bool) []int {
	matched := slices.Repeat([]int{-1}, len(items))
	start := 0
	for start < min(len(items), len(old)) && same(items[start], old[start]) {
		matched[start] = start
		start++
	}
	n, m := len(items), len(old)
	for n > start && m > start && same(items[n-1], old[m-1]) {
		n, m = n-1, m-1
		matched[n] = m
	}
	rows, columns := n-start, m-start
	if rows*columns > maxMatch {
		return matched
	}
	lengths := make([][]int, rows+1) // of a longest common subsequence of the items from two indexes on
	for i := range lengths {
		lengths[i] = make([]int, columns+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			if same(items[start+i], old[start+j]) {
				lengths[i][j] = lengths[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case same(items[start+i], old[start+j]):
			matched[start+i] = start + j
			i, j = i+1, j+1
		case lengths[i+1][j] >= lengths[i][j+1]:
			i++
		default:
			j++
		}
	}
	return matched
}
