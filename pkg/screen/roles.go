package screen

import "strings"

// The roles of WAI-ARIA 1.2 and of what Playwright adds, by what they are for. This is the program's only list of
// roles.
const (
	// numberedControls are those to which a web trail's eN counts always (specification, section 15.1).
	numberedControls = "button link textbox combobox searchbox checkbox radio switch tab menuitem option slider " +
		"spinbutton"
	// otherControls are controls, too, which eN counts only when they have a name.
	otherControls = "menuitemcheckbox menuitemradio listbox treeitem"
	// otherRoles are not controls.
	otherRoles = "alert alertdialog application article banner blockquote caption cell code columnheader " +
		"complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic " +
		"grid gridcell group heading img insertion list listitem log main mark marquee math menu menubar meter " +
		"navigation none note paragraph presentation progressbar radiogroup region row rowgroup rowheader scrollbar " +
		"search separator status strong subscript superscript table tablist tabpanel term time timer toolbar tooltip " +
		"tree treegrid"
	// textInputs take typed text. What they hold is their content, not their name.
	textInputs = "textbox searchbox combobox spinbutton"
	// namedByText are the roles whose text is their name when they have no label.
	namedByText = "text generic button cell checkbox columnheader gridcell heading img link menuitem " +
		"menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem"
	// otherParts have others in them, besides landmarks and dialogs.
	otherParts = "application blockquote document feed figure grid group iframe list log menu menubar radiogroup " +
		"rowgroup table tablist toolbar tree treegrid"
	// browserControls are controls that only Chrome's accessibility tree names.
	browserControls = "Date DateTime InputTime ColorWell DisclosureTriangle"
)

// Roles returns all ARIA roles.
func Roles() []string {
	return strings.Fields(numberedControls + " " + otherControls + " " + otherRoles)
}

// IsRole reports whether word is an ARIA role.
func IsRole(word string) bool { return IsControl(word) || hasWord(otherRoles, word) }

// IsControl reports whether role is one of an element that a person uses. Such an element can always be referred to.
func IsControl(role string) bool { return IsNumberedControl(role) || hasWord(otherControls, role) }

// IsNumberedControl reports whether eN of a web trail counts every element of role (specification, section 15.1).
func IsNumberedControl(role string) bool { return hasWord(numberedControls, role) }

// IsTextInput reports whether an element of role takes typed text.
func IsTextInput(role string) bool { return hasWord(textInputs, role) }

// IsStructural reports whether role has no meaning of its own: generic, none or presentation.
func IsStructural(role string) bool { return hasWord("generic none presentation", role) }

// HasParts reports whether an element of role has others in it that a person means one by one.
func HasParts(role string) bool { return hasWord(landmarks+" "+dialogs+" "+otherParts, role) }

// hasWord reports whether word is one of the words of list, which are separated by single spaces.
func hasWord(list, word string) bool {
	if word == "" || strings.Contains(word, " ") {
		return false
	}
	for rest := list; ; {
		at := strings.Index(rest, word)
		if at < 0 {
			return false
		}
		end := at + len(word)
		if (at == 0 || rest[at-1] == ' ') && (end == len(rest) || rest[end] == ' ') {
			return true
		}
		rest = rest[end:]
	}
}

// BrowserRoles returns what Chrome's accessibility tree calls elements of an ARIA role.
func BrowserRoles(role string) []string {
	switch role {
	case "img":
		return []string{"image", "SvgRoot", "Canvas"}
	case "textbox":
		return []string{"textbox", "Date", "DateTime", "InputTime", "ColorWell"}
	}
	return []string{role}
}

// RoleOfBrowser returns the ARIA role of an element that Chrome's accessibility tree calls name; "" when it has none.
func RoleOfBrowser(name string) string {
	switch name {
	case "image", "SvgRoot", "Canvas":
		return "img"
	case "Date", "DateTime", "InputTime", "ColorWell":
		return "textbox"
	case "DisclosureTriangle":
		return "button"
	}
	if IsRole(name) {
		return name
	}
	return ""
}

// IsBrowserControl reports whether Chrome's accessibility tree calls a control name.
func IsBrowserControl(name string) bool { return IsControl(name) || hasWord(browserControls, name) }

// RoleOfClass returns the ARIA role, or "text", for the class of an Android view, the type of an iOS element or the
// role of a Compose element. Classes are compared without their package and without the prefixes AX and
// XCUIElementType. It returns "generic" for others.
func RoleOfClass(class string) string {
	if class == "XCUIElementTypeTextView" { // several lines to type into; on Android a TextView is a label
		return "textbox"
	}
	name := class[strings.LastIndexAny(class, ".$")+1:]
	for _, prefix := range []string{"XCUIElementType", "AppCompat", "Material", "AX"} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, role := range []func(string) string{controlOfClass, containerOfClass} {
		if found := role(name); found != "" {
			return found
		}
	}
	return "generic"
}

func controlOfClass(name string) string {
	switch name {
	case "Button", "ImageButton", "FloatingActionButton", "ExtendedFloatingActionButton", "Chip",
		"PopUpButton", "MenuButton", "DisclosureTriangle", "DecrementArrow", "IncrementArrow":
		return "button"
	case "EditText", "TextInputEditText", "AutoCompleteTextView", "MultiAutoCompleteTextView", "TextField",
		"SecureTextField", "TextArea":
		return "textbox"
	case "SearchView", "SearchField", "SearchAutoComplete":
		return "searchbox"
	case "TextView", "StaticText", "Text", "CheckedTextView", "Chronometer", "TextClock":
		return "text"
	case "CheckBox", "Checkbox":
		return "checkbox"
	case "RadioButton":
		return "radio"
	case "Switch", "SwitchCompat", "SwitchMaterial", "ToggleButton", "CompoundButton", "Toggle":
		return "switch"
	case "Spinner", "ComboBox", "DropdownList", "PickerWheel", "Picker":
		return "combobox"
	case "SeekBar", "RatingBar", "Slider", "RatingIndicator":
		return "slider"
	case "NumberPicker", "Stepper", "ValuePicker":
		return "spinbutton"
	case "Link":
		return "link"
	case "MenuItem", "ActionMenuItemView", "MenuBarItem":
		return "menuitem"
	case "Tab", "TabView":
		return "tab"
	case "Key":
		return "button"
	}
	return ""
}

func containerOfClass(name string) string {
	switch name {
	case "ImageView", "Image", "Icon", "QuickContactBadge":
		return "img"
	case "ProgressBar", "ProgressIndicator", "ActivityIndicator", "BusyIndicator", "CircularProgressIndicator",
		"LinearProgressIndicator":
		return "progressbar"
	case "RecyclerView", "ListView", "ExpandableListView", "List", "CollectionView":
		return "list"
	case "GridView":
		return "grid"
	case "Table", "TableLayout":
		return "table"
	case "TableRow":
		return "row"
	case "Cell":
		return "listitem"
	case "TabWidget", "TabLayout", "TabBar", "TabGroup", "BottomNavigationView":
		return "tablist"
	case "ToolBar", "Toolbar", "ActionBar":
		return "toolbar"
	case "NavigationBar", "NavigationView":
		return "navigation"
	case "Alert", "AlertDialog":
		return "alertdialog"
	case "Dialog", "Sheet", "Popover":
		return "dialog"
	case "Menu", "ListPopupWindow":
		return "menu"
	case "MenuBar":
		return "menubar"
	case "RadioGroup":
		return "radiogroup"
	case "ScrollBar":
		return "scrollbar"
	case "WebView", "WebArea":
		return "document"
	case "Heading":
		return "heading"
	}
	return ""
}
