package aria

import "strings"

// hidden reports whether an element is left out, with its content.
func (p *page) hidden(n *node) bool {
	if !n.mayShow() {
		return true
	}
	inSelect := n.tag == "OPTION" && n.closestTag("SELECT") != nil
	if n.tag != "SLOT" && !inSelect {
		switch {
		case !n.rendered && n.hasRenderedDescendant:
			return p.contentsHidden(n)
		case !n.rendered, n.locked, n.visibility != "visible":
			return true
		}
	}
	return p.coveredUp(n)
}

// mayShow reports whether elements with this tag can show anything.
func (n *node) mayShow() bool {
	switch n.tag {
	case "STYLE", "SCRIPT", "NOSCRIPT", "TEMPLATE":
		return false
	}
	return true
}

// contentsHidden reports whether all content of an element with display: contents is hidden.
func (p *page) contentsHidden(n *node) bool {
	for _, c := range n.children {
		if c.tag == "" && c.boxed || c.tag != "" && !p.hidden(c) {
			return false
		}
	}
	return true
}

// coveredUp reports whether n or one of its ancestors has display: none or aria-hidden.
func (p *page) coveredUp(n *node) bool {
	if n.covered == unknown {
		n.covered = no
		up := n.parentOrHost()
		if n.displayNone() || n.attrIsTrue("aria-hidden") || up != nil && p.coveredUp(up) {
			n.covered = yes
		}
	}
	return n.covered == yes
}

// displayNone reports whether n has display: none. A capture has no styles of elements without a box.
func (n *node) displayNone() bool {
	switch {
	case n.rendered || n.hasRenderedDescendant:
		return false
	case n.tag == "OPTION" || n.tag == "OPTGROUP":
		style := strings.ReplaceAll(strings.ToLower(n.attr("style")), " ", "")
		hidden := n.has("hidden") && !strings.EqualFold(n.attr("hidden"), "until-found")
		return hidden || strings.Contains(style, "display:none")
	case n.tag == "SLOT":
		return n.find(func(*node) bool { return true }) != nil || normalize(n.textContent()) != ""
	}
	return true
}

// inline reports whether n is laid out inline with the text around it.
func (n *node) inline() bool {
	switch {
	case n.rendered:
		return n.display == "inline"
	case n.hasRenderedDescendant || n.tag == "SLOT":
		return false // display: contents
	case n.parent != nil && (n.parent.rendered || n.parent.hasRenderedDescendant):
		return false // display: none
	}
	switch n.tag { // inside a hidden element; only reached for names by aria-labelledby
	case "ADDRESS",
		"ARTICLE",
		"ASIDE",
		"BLOCKQUOTE",
		"BODY",
		"BUTTON",
		"CAPTION",
		"CENTER",
		"DD",
		"DETAILS",
		"DIALOG",
		"DIR",
		"DIV",
		"DL",
		"DT",
		"FIELDSET",
		"FIGCAPTION",
		"FIGURE",
		"FOOTER",
		"FORM",
		"H1",
		"H2",
		"H3",
		"H4",
		"H5",
		"H6",
		"HEADER",
		"HGROUP",
		"HR",
		"HTML",
		"INPUT",
		"LEGEND",
		"LI",
		"MAIN",
		"MENU",
		"METER",
		"NAV",
		"OL",
		"OPTGROUP",
		"OPTION",
		"P",
		"PRE",
		"PROGRESS",
		"SEARCH",
		"SECTION",
		"SELECT",
		"SUMMARY",
		"TABLE",
		"TBODY",
		"TD",
		"TEXTAREA",
		"TFOOT",
		"TH",
		"THEAD",
		"TR",
		"UL":
		return false
	}
	return true
}

// notRendered reports whether a text is collapsed, such as in a closed details element.
func (n *node) notRendered() bool {
	return n.parent != nil && n.parent.tag == "DETAILS" && !n.parent.has("open")
}
