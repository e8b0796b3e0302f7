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

// Collators are of one engine's goroutine, as they are not safe for concurrent use.
type collators struct {
	made  []*collator
	known map[string]int
}

// A collator compares as Intl.Collator does. Two things the package cannot do: to look at case without looking at accents, and to
// sort capitals first. For these, case is looked at in between.
type collator struct {
	caseless   *collate.Collator // nil: full does it all
	upperFirst bool
	full       *collate.Collator // nil: case was the last to matter
}

// number is intl.collator(locale, sensitivity, numeric, ignorePunctuation, caseFirst): the number of one that intl.compare knows.
func (c *collators) number(locale, sensitivity string, numeric, ignorePunctuation bool, caseFirst string) (int, error) {
	key := fmt.Sprint(locale, sensitivity, numeric, ignorePunctuation, caseFirst)
	if id, ok := c.known[key]; ok {
		return id, nil
	}
	tag, err := languageTag(locale)
	if err != nil {
		return 0, err
	}
	if c.known == nil {
		c.known = map[string]int{}
	}
	c.made = append(c.made, newCollator(tag, sensitivity, numeric, ignorePunctuation, caseFirst))
	c.known[key] = len(c.made) - 1
	return c.known[key], nil
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
			chosen = language.Danish // the table of its own is not found, and they have the same letters
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
	if order := strings.Compare(capitals(a), capitals(b)); order != 0 {
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

// capitals tells where a text has capitals: the rest of it is equal to that of what it is compared with.
func capitals(text string) string {
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

// languageTag accepts languages that nobody knows, if they are written as a language is.
func languageTag(locale string) (language.Tag, error) {
	tag, err := language.Parse(locale)
	var unknown language.ValueError
	if err != nil && !errors.As(err, &unknown) || strings.Contains(locale, "_") {
		return tag, errLocale
	}
	return tag, nil
}

// plain are languages that have no table because their order is the usual one.
const plain = " ga gl id it lb ms nl pt sw "

// languageFacts is intl.locale(locale): the usual way to write it, and whether the order of its words is known.
func languageFacts(locale string) (name string, collates bool, err error) {
	tag, err := languageTag(locale)
	if err != nil || tag == language.Und {
		return locale, false, err
	}
	base, _ := tag.Base()
	return tag.String(), strings.Contains(plain, " "+base.String()+" ") || slices.ContainsFunc(collate.Supported(), func(supported language.Tag) bool {
		known, _ := supported.Base()
		return known == base
	}), nil
}
