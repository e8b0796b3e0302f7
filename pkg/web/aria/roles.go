package aria

import "strings"

// roles are ARIA roles, with a space before and after each. pkg/screen has the list of all roles; a test compares.
type roles string

// has reports whether role is one of r.
func (r roles) has(role string) bool { return role != "" && strings.Contains(string(r), " "+role+" ") }

// What WAI-ARIA and Playwright say of roles.
const (
	// withChecked are the roles that have the state checked.
	withChecked roles = " checkbox menuitemcheckbox option radio switch menuitemradio treeitem "
	// withDisabled are the roles that have the state disabled.
	withDisabled roles = " application button gridcell group link menuitem scrollbar separator tab checkbox " +
		"columnheader combobox grid listbox menu menubar menuitemcheckbox menuitemradio option " +
		"radio radiogroup row rowheader searchbox slider spinbutton switch tablist textbox " +
		"toolbar tree treegrid treeitem "
	// withExpanded are the roles that have the state expanded.
	withExpanded roles = " application button checkbox combobox gridcell link listbox menuitem row rowheader " +
		"tab treeitem columnheader menuitemcheckbox menuitemradio switch "
	// withInvalid are the roles that have the state invalid.
	withInvalid roles = " application checkbox columnheader combobox gridcell listbox radiogroup rowheader " +
		"searchbox slider spinbutton switch textbox tree "
	// withLevel are the roles that have a level.
	withLevel roles = " heading listitem row treeitem "
	// withSelected are the roles that have the state selected.
	withSelected roles = " gridcell option row tab rowheader columnheader treeitem "
	// namedByContent are the roles that are named by their content when nothing else names them.
	namedByContent roles = " button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox " +
		"menuitemradio option radio row rowheader switch tab tooltip treeitem "
	// namesByContent are the roles that count with their content in the name of an element around them.
	namesByContent roles = " caption code contentinfo definition deletion emphasis insertion list listitem mark " +
		"none paragraph presentation region row rowgroup strong subscript superscript table " +
		"term time "
	// withoutName are the roles that never have a name.
	withoutName roles = " caption code definition deletion emphasis generic insertion mark paragraph " +
		"presentation strong subscript superscript term time "
)
