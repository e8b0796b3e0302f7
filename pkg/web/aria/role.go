package aria

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// role returns the role of an element, empty if it has none.
func (p *page) role(n *node) string {
	if !n.hasRole {
		n.ariaRole, n.hasRole = p.findRole(n), true
	}
	return n.ariaRole
}

func (p *page) findRole(n *node) string {
	explicit := n.explicitRole()
	switch explicit {
	case "":
		return p.implicitRole(n)
	case "none", "presentation":
		if implicit := p.implicitRole(n); n.ignoresPresentation(implicit) {
			return implicit
		}
	}
	return explicit
}

// explicitRole returns the first word of the role attribute that is a role.
func (n *node) explicitRole() string {
	for word := range strings.SplitSeq(strings.ToLower(n.attr("role")), " ") {
		if word = trim(word); screen.IsRole(word) {
			return word
		}
	}
	return ""
}

// ignoresPresentation reports whether an element keeps its role although its role attribute is presentation: it can be
// focused, or has a name.
func (n *node) ignoresPresentation(role string) bool {
	return n.hasGlobalAttribute(role) || n.focusable()
}

func (n *node) hasGlobalAttribute(role string) bool {
	for i := 0; i+1 < len(n.attrs); i += 2 {
		switch n.attrs[i] {
		case "aria-atomic",
			"aria-busy",
			"aria-controls",
			"aria-current",
			"aria-describedby",
			"aria-details",
			"aria-dropeffect",
			"aria-flowto",
			"aria-grabbed",
			"aria-hidden",
			"aria-keyshortcuts",
			"aria-live",
			"aria-owns",
			"aria-relevant":
			return true
		case "aria-label", "aria-labelledby":
			switch role {
			case "caption",
				"code",
				"deletion",
				"emphasis",
				"generic",
				"insertion",
				"paragraph",
				"presentation",
				"strong",
				"subscript",
				"superscript":
			default:
				return true
			}
		case "aria-roledescription":
			if role != "generic" {
				return true
			}
		}
	}
	return false
}

func (n *node) focusable() bool {
	return !n.nativelyDisabled() && (n.nativelyFocusable() || n.hasTabIndex())
}

func (n *node) hasTabIndex() bool { return n.has("tabindex") && isNumber(n.attr("tabindex")) }

func (n *node) nativelyFocusable() bool {
	switch n.tag {
	case "BUTTON", "DETAILS", "SELECT", "TEXTAREA":
		return true
	case "A", "AREA":
		return n.has("href")
	case "INPUT":
		return !n.has("hidden")
	}
	return false
}

// implicitRole returns the role that HTML defines. Parts of a table or list without a role have none either.
func (p *page) implicitRole(n *node) string {
	role := p.htmlRole(n)
	if role == "" {
		return ""
	}
	for e := n; e != nil; {
		up := e.parentOrHost()
		if up == nil || !belongsTo(e.tag, up.tag) {
			break
		}
		explicit := up.explicitRole()
		if (explicit == "none" || explicit == "presentation") && !up.ignoresPresentation(explicit) {
			return explicit
		}
		e = up
	}
	return role
}

func belongsTo(tag, parent string) bool {
	switch tag {
	case "DD", "DT":
		return parent == "DL" || parent == "DIV"
	case "DIV":
		return parent == "DL"
	case "LI":
		return parent == "OL" || parent == "UL"
	case "TBODY", "TFOOT", "THEAD":
		return parent == "TABLE"
	case "TD", "TH":
		return parent == "TR"
	case "TR":
		return parent == "THEAD" || parent == "TBODY" || parent == "TFOOT" || parent == "TABLE"
	}
	return false
}

// htmlRole returns the role of an element by its tag and attributes.
func (p *page) htmlRole(n *node) string {
	switch n.tag {
	case "A", "AREA":
		return when(n.has("href"), "link")
	case "FORM":
		return when(n.has("aria-label") || n.has("aria-labelledby"), "form")
	case "SECTION":
		return when(n.has("aria-label") || n.has("aria-labelledby"), "region")
	case "FOOTER":
		return when(!n.inSection(), "contentinfo")
	case "HEADER":
		return when(!n.inSection(), "banner")
	case "IMG":
		decorative := n.has("alt") && n.attr("alt") == "" && n.attr("title") == "" && !n.hasGlobalAttribute("") &&
			!n.hasTabIndex()
		if decorative {
			return "presentation"
		}
		return "img"
	case "INPUT":
		return p.inputRole(n)
	case "SELECT":
		if n.listBox() {
			return "listbox"
		}
		return "combobox"
	case "TD":
		if role := n.table().explicitRole(); role == "grid" || role == "treegrid" {
			return "gridcell"
		}
		return "cell"
	case "TH":
		return n.headerRole()
	}
	return tagRole(n.tag)
}

func tagRole(tag string) string {
	switch tag {
	case "ARTICLE",
		"BLOCKQUOTE",
		"BUTTON",
		"CAPTION",
		"CODE",
		"DIALOG",
		"FIGURE",
		"MAIN",
		"MARK",
		"MATH",
		"METER",
		"OPTION",
		"SEARCH",
		"STRONG",
		"TABLE",
		"TIME":
		return strings.ToLower(tag)
	case "H1", "H2", "H3", "H4", "H5", "H6":
		return "heading"
	case "MENU", "OL", "UL":
		return "list"
	case "TBODY", "TFOOT", "THEAD":
		return "rowgroup"
	case "DETAILS", "FIELDSET", "OPTGROUP":
		return "group"
	case "DFN", "DT":
		return "term"
	}
	switch tag {
	case "ASIDE":
		return "complementary"
	case "DATALIST":
		return "listbox"
	case "DD":
		return "definition"
	case "DEL":
		return "deletion"
	case "EM":
		return "emphasis"
	case "HR":
		return "separator"
	case "HTML":
		return "document"
	case "INS":
		return "insertion"
	case "LI":
		return "listitem"
	case "NAV":
		return "navigation"
	case "OUTPUT":
		return "status"
	case "P":
		return "paragraph"
	case "PROGRESS":
		return "progressbar"
	case "SUB":
		return "subscript"
	case "SUP":
		return "superscript"
	case "SVG":
		return "img"
	case "TEXTAREA":
		return "textbox"
	case "TR":
		return "row"
	}
	return ""
}

func when(holds bool, role string) string {
	if holds {
		return role
	}
	return ""
}

func (p *page) inputRole(n *node) string {
	switch t := n.inputType(); t {
	case "email", "search", "tel", "text", "url":
		if list := p.refs(n, "list"); len(list) > 0 && list[0].tag == "DATALIST" {
			return "combobox"
		}
		if t == "search" {
			return "searchbox"
		}
	case "hidden":
		return ""
	case "button", "file", "image", "reset", "submit":
		return "button"
	case "checkbox", "radio":
		return t
	case "number":
		return "spinbutton"
	case "range":
		return "slider"
	}
	return "textbox"
}

// listBox reports whether a select element always shows its options.
func (n *node) listBox() bool { return n.has("multiple") || leadingInt(n.attr("size")) > 1 }

// inSection reports whether a header or footer belongs to a section and not to the page.
func (n *node) inSection() bool {
	for e := n; e != nil; e = e.parentOrHost() {
		switch e.tag {
		case "ARTICLE", "ASIDE", "MAIN", "NAV", "SECTION":
			if !e.has("role") {
				return true
			}
		}
		switch e.attr("role") {
		case "article", "complementary", "main", "navigation", "region":
			return true
		}
	}
	return false
}

// table returns the table around n, an empty node without one.
func (n *node) table() *node {
	for e := n; e != nil; e = e.parentOrHost() {
		if e.tag == "TABLE" {
			return e
		}
	}
	return &node{}
}

func (n *node) headerRole() string {
	switch n.attr("scope") {
	case "col", "colgroup":
		return "columnheader"
	case "row", "rowgroup":
		return "rowheader"
	}
	next, prev := n.sibling(1), n.sibling(-1)
	switch {
	case next == nil && prev == nil:
		row := n.parentOrHost()
		if row != nil && row.tag == "TR" && row.table().tag != "" && row.table().rows() <= 1 {
			return ""
		}
		return "columnheader"
	case next != nil && prev != nil && next.tag == "TH" && prev.tag == "TH":
		return "columnheader"
	case next.filledCell() || prev.filledCell():
		return "rowheader"
	}
	return "columnheader"
}

func (n *node) filledCell() bool {
	return n != nil && n.tag == "TD" && (trim(n.textContent()) != "" || n.find(func(*node) bool { return true }) != nil)
}

// rows returns the number of rows of a table.
func (n *node) rows() int {
	count := 0
	for _, c := range n.children {
		switch c.tag {
		case "TR":
			count++
		case "TBODY", "TFOOT", "THEAD":
			count += c.rows()
		}
	}
	return count
}
