package source

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// The texts of a screen in a source. In that of iOS, a name that is an identifier stays, and one that repeats the label
// does not.
var (
	xmlElement = lazyregexp.New(`<[\w.$-]+(?:\s+[\w:-]+\s*=\s*(?:"[^"]*"|'[^']*'))+`)
	xmlTexts   = lazyregexp.New(`\s(text|content-desc|hint|pane-title|tooltip-text|error|state-desc|label|value|placeholderValue|customActions|name|extras)\s*=\s*("[^"]*"|'[^']*')`)
	xmlEntity  = lazyregexp.New(`&#?\w+;`)
	extraKey   = lazyregexp.New(`&#?\w+;|(?:^|;)[\w.:-]+=`) // or an entity, whose end does not begin a key
	jsonTexts  = lazyregexp.New(`"(label|value|placeholderValue|customActions|name|rawIdentifier)"\s*:\s*("(?:[^"\\]|\\.)*")`)
)

// Mask replaces each letter and digit in the texts of a screen, so that their lengths and shapes stay. What programs
// named, such as classes and ids, stays as it is. It returns the texts, without those that programs write, such as
// numbers and true.
func Mask(data []byte) (masked []byte, texts []string) {
	if first := bytes.TrimLeft(data, " \r\n\t"); len(first) > 0 && first[0] == '{' {
		return maskJSON(data)
	}
	masked = xmlElement().ReplaceAllFunc(data, func(element []byte) []byte {
		labels := map[string]bool{}
		for _, m := range xmlTexts().FindAllSubmatch(element, -1) {
			if name := string(m[1]); name == "label" || name == "value" {
				labels[string(m[2])] = true
			}
		}
		return replaceGroups(element, xmlTexts().FindAllSubmatchIndex(element, -1), func(key, quoted string) string {
			switch {
			case key == "name" && !labels[quoted]:
				return quoted // an identifier
			case key == "extras":
				return quoted[:1] + maskExtras(quoted[1:len(quoted)-1]) + quoted[:1]
			}
			text := unescapeXML(quoted[1 : len(quoted)-1])
			texts = appendText(texts, text)
			return quoted[:1] + maskXML(quoted[1:len(quoted)-1]) + quoted[:1]
		})
	})
	return masked, texts
}

// maskExtras is maskXML for extras such as key=value;key=value, which have texts that other attributes have, too, and
// the URLs of links of web pages. What sessions read of them stays.
func maskExtras(s string) string {
	var b strings.Builder
	key, end := "", 0
	for _, m := range append(extraKey().FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		if m[0] < m[1] && s[m[0]] == '&' {
			continue
		}
		value := s[end:m[0]]
		if key != testTagExtra && key != roleExtra && value != "true" && value != "false" {
			value = maskXML(value)
		}
		b.WriteString(value + s[m[0]:m[1]])
		key, end = strings.Trim(s[m[0]:m[1]], ";="), m[1]
	}
	return b.String()
}

func maskJSON(data []byte) (masked []byte, texts []string) {
	labels := map[string]bool{}
	for _, m := range jsonTexts().FindAllSubmatch(data, -1) {
		if key := string(m[1]); key == "label" || key == "value" {
			labels[string(m[2])] = true
		}
	}
	masked = replaceGroups(data, jsonTexts().FindAllSubmatchIndex(data, -1), func(key, quoted string) string {
		var text string
		if (key == "name" || key == "rawIdentifier") && !labels[quoted] || json.Unmarshal([]byte(quoted), &text) != nil {
			return quoted
		}
		texts = appendText(texts, text)
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(MaskText(text)) // a text can always be encoded
		return strings.TrimSuffix(b.String(), "\n")
	})
	return masked, texts
}

// replaceGroups replaces the second group of each match, whose first group is its key.
func replaceGroups(data []byte, matches [][]int, replace func(key, text string) string) []byte {
	var out []byte
	end := 0
	for _, m := range matches {
		out = append(out, data[end:m[4]]...)
		out = append(out, replace(string(data[m[2]:m[3]]), string(data[m[4]:m[5]]))...)
		end = m[5]
	}
	return append(out, data[end:]...)
}

// appendText appends a text that people wrote.
func appendText(texts []string, text string) []string {
	_, err := strconv.ParseFloat(text, 64)
	if text == "" || text == "true" || text == "false" || err == nil {
		return texts
	}
	return append(texts, text)
}

// maskXML is MaskText for text with entities, which stay unless they are of letters.
func maskXML(s string) string {
	var b strings.Builder
	end := 0
	for _, m := range xmlEntity().FindAllStringIndex(s, -1) {
		b.WriteString(MaskText(s[end:m[0]]))
		entity := s[m[0]:m[1]]
		if r := unescapeXML(entity); MaskText(r) != r {
			entity = MaskText(r)
		}
		b.WriteString(entity)
		end = m[1]
	}
	return b.String() + MaskText(s[end:])
}

// unescapeXML replaces entities.
func unescapeXML(s string) string {
	return xmlEntity().ReplaceAllStringFunc(s, func(entity string) string {
		name := entity[1 : len(entity)-1]
		if known, ok := map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}[name]; ok {
			return known
		}
		base, digits := 10, strings.TrimPrefix(name, "#")
		if hex, isHex := strings.CutPrefix(strings.ToLower(digits), "x"); isHex {
			base, digits = 16, hex
		}
		n, err := strconv.ParseInt(digits, base, 32)
		if err != nil || digits == name {
			return entity
		}
		return string(rune(n))
	})
}

// MaskText replaces each letter by one of its script and case, and each digit by 0. Other characters stay: spaces,
// punctuation, emoji, combining marks.
func MaskText(s string) string { return strings.Map(maskRune, s) }

func maskRune(r rune) rune {
	switch {
	case unicode.IsDigit(r):
		return '0'
	case !unicode.IsLetter(r):
		return r
	}
	for _, script := range []struct {
		table        *unicode.RangeTable
		lower, upper rune
	}{
		{unicode.Latin, 'x', 'X'},
		{unicode.Greek, 'α', 'Α'},
		{unicode.Cyrillic, 'ж', 'Ж'},
		{unicode.Han, '字', '字'},
		{unicode.Hiragana, 'あ', 'あ'},
		{unicode.Katakana, 'ア', 'ア'},
		{unicode.Hangul, '가', '가'},
		{unicode.Arabic, 'ا', 'ا'},
		{unicode.Hebrew, 'א', 'א'},
		{unicode.Devanagari, 'क', 'क'},
		{unicode.Thai, 'ก', 'ก'},
	} {
		if unicode.Is(script.table, r) {
			if unicode.IsUpper(r) {
				return script.upper
			}
			return script.lower
		}
	}
	return 'x'
}
