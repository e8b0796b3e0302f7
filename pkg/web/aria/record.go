package aria

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// maxRecordTexts is the number of texts that a record has at most: what has more is a part of the page.
const maxRecordTexts = 12

// records finds the records of controls.
//
// The record of a control is the largest element around it that has no other control with the same role and name, and
// at most maxRecordTexts texts; if that has no text, the texts between it and the one before. Such controls without a
// text between them share a record. A control that has its role and name for itself belongs to the smallest element
// around it with a word. The record is known by a text that
// no record of the same controls has, a word rather than a number, and a heading rather than another text. Rows, list
// items and articles are known by all their texts, so a control that is the only one of its kind in one has no record
// here. Controls without a name are the same if their markup and their drawing are, such as their icon.
type records struct {
	lines map[*node]*Line
	texts []recordText
	spans map[*node]recordSpan
	count int // of nodes
}

type recordText struct {
	text    string
	heading bool
	at      int
}

// recordSpan is the part of the document that a node takes, counted in nodes.
type recordSpan struct{ from, to int }

// recordKind is what controls have in common that only their records tell from one another.
type recordKind struct{ role, name, text, markup string }

// addRecords sets the records of the controls in the lines.
func (t *Tree) addRecords() {
	r := &records{lines: make(map[*node]*Line, len(t.lines)), spans: map[*node]recordSpan{}}
	kinds := map[recordKind][]*node{}
	for i := range t.lines {
		l := &t.lines[i]
		if l.node == nil {
			continue
		}
		r.lines[l.node] = l
		if screen.IsControl(l.Role) || slices.Contains(l.Attributes, "clickable") {
			kind := recordKind{l.Role, l.Name, l.Text, l.Markup}
			if l.Name == "" {
				kind.markup += " " + l.node.drawing()
			}
			kinds[kind] = append(kinds[kind], l.node)
		}
	}
	if t.page.root != nil {
		r.read(t.page, t.page.root, true, false)
	}
	for _, alike := range kinds {
		r.find(alike)
	}
}

// drawing returns the first path that is drawn in n, such as that of an icon; "" for none.
func (n *node) drawing() string {
	if path := n.find(func(e *node) bool { return e.svg && strings.EqualFold(e.tag, "path") }); path != nil {
		return path.attr("d")
	}
	return ""
}

// read notes where n and what is in it are, and the texts that are not of controls.
func (r *records) read(p *page, n *node, counts, heading bool) {
	span := recordSpan{from: r.count}
	r.count++
	var text strings.Builder // texts that only a script has divided
	flush := func() {
		if joined := normalize(text.String()); counts && joined != "" {
			r.texts = append(r.texts, recordText{joined, heading, r.count})
		}
		r.count++
		text.Reset()
	}
	for _, child := range n.children {
		switch {
		case child.tag != "":
			flush()
			r.read(p, child, counts && r.isRead(p, child), heading || r.role(child) == "heading")
		case child.boxed && !child.notRendered():
			text.WriteString(child.text)
		}
	}
	flush()
	span.to = r.count
	r.spans[n] = span
}

// isRead reports whether people know what is around n by the texts in it.
func (r *records) isRead(p *page, n *node) bool {
	role := r.role(n)
	return !p.hidden(n) && (!screen.IsControl(role) || role == "link") && !screen.IsPassing(role)
}

func (r *records) role(n *node) string {
	if l := r.lines[n]; l != nil {
		return l.Role
	}
	return ""
}

// find sets the records of all controls of a kind.
func (r *records) find(alike []*node) {
	slices.SortFunc(alike, func(a, b *node) int { return cmp.Compare(r.spans[a].from, r.spans[b].from) })
	near, all := make([][]recordText, len(alike)), make([][]recordText, len(alike))
	seen, has := map[string]int{}, make([]bool, len(alike))
	runs := r.runs(alike)
	for i := range alike {
		near[i], all[i], has[i] = r.around(alike, i, runs[i])
		if runs[i].from < i {
			continue // its record is counted
		}
		for text := range textSet(all[i]) {
			seen[text]++
		}
	}
	for i, n := range alike {
		if !has[i] {
			continue
		}
		from := all[i]
		if runs[i] == (run{0, len(alike)}) {
			from = near[i]
		}
		r.lines[n].Record = &screen.Record{Known: knownText(from, seen), Near: textsOf(near[i]), All: textsOf(all[i])}
	}
}

// run is a part of a list of controls, without the one at to.
type run struct{ from, to int }

// runs returns the run of each control: the controls between which no text stands, which belong to the same record.
func (r *records) runs(alike []*node) []run {
	list := make([]run, len(alike))
	for from, to := 0, 0; from < len(alike); from = to {
		for to = from + 1; to < len(alike); to++ {
			gap := recordSpan{r.spans[alike[to-1]].to, r.spans[alike[to]].from}
			if len(r.between(gap, r.spans[alike[to]])) > 0 {
				break
			}
		}
		for i := from; i < to; i++ {
			list[i] = run{from, to}
		}
	}
	return list
}

// around returns the texts in the smallest element with a word around the control at an index, and those of the largest
// that has none of the controls outside of its run. It is false for one that a row is known by.
func (r *records) around(alike []*node, i int, in run) (near, all []recordText, ok bool) {
	own := r.spans[alike[i]]
	before, after := -1, r.count+1
	if in.from > 0 {
		before = r.spans[alike[in.from-1]].to
	}
	if in.to < len(alike) {
		after = r.spans[alike[in.to]].from
	}
	for up := alike[i].parent; up != nil && up.tag != "BODY" && up.tag != "HTML"; up = up.parent {
		span := r.spans[up]
		if span.from < before || span.to > after {
			if len(all) == 0 {
				all = r.between(recordSpan{max(before, span.from), own.from}, own)
				near = all
			}
			break
		}
		if screen.IsRowRole(r.role(up)) {
			return nil, nil, false
		}
		texts := r.between(span, own)
		if len(texts) > maxRecordTexts {
			return near, all, len(all) > 0
		}
		if all = texts; !slices.ContainsFunc(near, recordText.isWord) {
			near = all
		}
	}
	return near, all, len(all) <= maxRecordTexts
}

// between returns the texts in span that are not in own.
func (r *records) between(span, own recordSpan) (texts []recordText) {
	first := sort.Search(len(r.texts), func(i int) bool { return r.texts[i].at >= span.from })
	for _, t := range r.texts[first:] {
		if t.at >= span.to || len(texts) > maxRecordTexts {
			break
		}
		if t.at < own.from || t.at >= own.to {
			texts = append(texts, t)
		}
	}
	return texts
}

func (t recordText) isWord() bool { return strings.ContainsFunc(t.text, unicode.IsLetter) }

// knownText returns the text by which a record is known, "" if it has none. seen counts the records that have a text.
func knownText(texts []recordText, seen map[string]int) string {
	rank := func(t recordText) (rank int) {
		for _, worse := range []bool{seen[t.text] > 1, !t.isWord(), screen.MayChange(t.text) != "", !t.heading} {
			if rank *= 2; worse {
				rank++
			}
		}
		return rank
	}
	if len(texts) == 0 {
		return ""
	}
	return slices.MinFunc(texts, func(a, b recordText) int { return cmp.Compare(rank(a), rank(b)) }).text
}

func textSet(texts []recordText) map[string]bool {
	set := map[string]bool{}
	for _, t := range texts {
		set[t.text] = true
	}
	return set
}

func textsOf(texts []recordText) (out []string) {
	for _, t := range texts {
		out = append(out, t.text)
	}
	return out
}
