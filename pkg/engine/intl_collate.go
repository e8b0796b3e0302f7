package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// collators caches the collators of an engine. Only the main goroutine may use it, because a collate.Collator is not
// safe for concurrent use.
type collators struct {
	list []*collator
	ids  map[string]int
}

// A collator compares strings as Intl.Collator does. collate.Collator can neither compare case while it ignores
// accents, nor sort uppercase first; for these, case is compared in a separate step between the two collators.
type collator struct {
	caseless   *collate.Collator // ignores case; nil: full compares case as well
	upperFirst bool
	full       *collate.Collator // nil: nothing is compared after case
}

const (
	collatorSize    = 16 << 10 // about the memory of a collator in bytes
	collationFactor = 24       // bytes that a comparison needs at most for each byte of the strings
)

// newCollatorNumber implements intl.collator(locale, sensitivity, numeric, ignorePunctuation, caseFirst): it returns
// the number of a collator for intl.compare, which exists as long as the engine.
func newCollatorNumber(c *call) (any, error) {
	all := &c.intl.collators
	key := fmt.Sprintf("%q", c.args)
	if id, ok := all.ids[key]; ok {
		return id, nil
	}
	tag, err := languageTag(arg[string](c.args, 0))
	if err != nil {
		return 0, err
	}
	c.vm.heap.reserve(collatorSize)
	if all.ids == nil {
		all.ids = map[string]int{}
	}
	made := newCollator(tag, arg[string](c.args, 1), arg[bool](c.args, 2), arg[bool](c.args, 3), arg[string](c.args, 4))
	all.list = append(all.list, made)
	all.ids[key] = len(all.list) - 1
	return all.ids[key], nil
}

// compareStrings implements intl.compare(collator, a, b): it returns -1, 0 or 1.
func compareStrings(c *call) (any, error) {
	a, b := arg[string](c.args, 1), arg[string](c.args, 2)
	c.reserve(collationFactor * (len(a) + len(b)))
	return c.intl.collators.list[intArg(c.args, 0)].compare(a, b), nil
}

func newCollator(tag language.Tag, sensitivity string, numeric, ignorePunctuation bool, caseFirst string) *collator {
	with := func(strength string) *collate.Collator {
		keys := map[string]string{"ks": strength, "kn": "false", "ka": "noignore"}
		if numeric {
			keys["kn"] = "true"
		}
		if ignorePunctuation {
			keys["ka"] = "shifted"
		}
		chosen := tag
		if base, _ := tag.Base(); base.String() == "nb" || base.String() == "no" {
			chosen = language.Danish // the package does not find the Norwegian table; the order is the same
		}
		for key, value := range keys {
			if set, err := chosen.SetTypeForKey(key, value); err == nil {
				chosen = set
			}
		}
		return collate.New(chosen)
	}
	switch sensitivity {
	case "base":
		return &collator{full: with("level1")}
	case "accent":
		return &collator{full: with("level2")}
	case "case":
		return &collator{caseless: with("level1"), upperFirst: caseFirst == "upper"}
	}
	if caseFirst == "upper" {
		return &collator{full: with("level3"), caseless: with("level2"), upperFirst: true}
	}
	return &collator{full: with("level3")}
}

func (c *collator) compare(a, b string) int {
	if c.caseless == nil {
		return c.full.CompareString(a, b)
	}
	if order := c.caseless.CompareString(a, b); order != 0 {
		return order
	}
	if order := strings.Compare(uppercasePositions(a), uppercasePositions(b)); order != 0 {
		if c.upperFirst {
			return -order
		}
		return order
	}
	if c.full == nil {
		return 0
	}
	return c.full.CompareString(a, b)
}

// uppercasePositions returns a string that has "U" where text has an uppercase letter and a space elsewhere, without
// trailing spaces. The texts that are compared with it are equal apart from case.
func uppercasePositions(text string) string {
	marks := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsUpper(r):
			return 'U'
		}
		return ' '
	}, norm.NFKD.String(text))
	return strings.TrimRight(marks, " ")
}

var errLocale = &hostError{Name: "RangeError", Message: "Incorrect locale information provided"}

// languageTag parses a locale. A well-formed tag of an unknown language is valid.
func languageTag(locale string) (tag language.Tag, err error) {
	const maxSize = 256 // bytes
	if len(locale) > maxSize {
		return tag, errLocale
	}
	tag, err = language.Parse(locale)
	var unknown language.ValueError
	if err != nil && !errors.As(err, &unknown) || strings.Contains(locale, "_") {
		return tag, errLocale
	}
	return tag, nil
}

// untailoredLanguages are languages that the package has no table for because they use the default order.
const untailoredLanguages = " ga gl id it lb ms nl pt sw "

// describeLocale implements intl.locale(locale): it returns the canonical tag, and whether the order of its language is
// known.
func describeLocale(locale string) (name string, collates bool, err error) {
	tag, err := languageTag(locale)
	if err != nil || tag == language.Und {
		return locale, false, err
	}
	base, _ := tag.Base()
	return tag.String(), strings.Contains(untailoredLanguages, " "+base.String()+" ") || slices.ContainsFunc(collate.Supported(), func(supported language.Tag) bool {
		known, _ := supported.Base()
		return known == base
	}), nil
}
