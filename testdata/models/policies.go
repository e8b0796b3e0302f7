package models

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Script returns a policy that gives replies in their order, and the last one from then on.
func Script(replies ...Reply) Policy {
	var mu sync.Mutex
	n := 0
	return func(Prompt) Reply {
		mu.Lock()
		defer mu.Unlock()
		n++
		return replies[min(n, len(replies))-1]
	}
}

// Rule says what a model does for a task, turn by turn; the last turn is repeated.
type Rule struct {
	Task  string  `json:"task"` // a pattern for the task line, such as "step: Add the mug"
	Turns []Reply `json:"turns"`
}

// Rules returns a policy that finds elements by what the screen shows. An argument "@ROLE NAME" becomes the reference of
// the element with that role and name, or "@NAME" of any with that name, in the last block that has it. A task without
// a rule fails, and so does one whose element is not on the screen.
func Rules(rules ...Rule) Policy {
	var mu sync.Mutex
	turns := map[string]int{}
	return func(p Prompt) Reply {
		task := Task(p)
		for _, rule := range rules {
			if !regexp.MustCompile(rule.Task).MatchString(task) {
				continue
			}
			mu.Lock()
			key := p.Blocks[0].Text
			turn := rule.Turns[min(turns[key], len(rule.Turns)-1)]
			turns[key]++
			mu.Unlock()
			reply, missing := turn.on(p)
			if missing != "" {
				return GiveUp("the screen does not show " + missing)
			}
			return reply
		}
		return GiveUp("the task is unknown: " + task)
	}
}

// GiveUp returns the reply that ends a task as failed.
func GiveUp(why string) Reply {
	return Reply{Calls: []Call{{Name: "step_done", Args: map[string]any{"status": "failed", "why": why}}}}
}

// on returns a reply with references of a prompt's elements.
func (r Reply) on(p Prompt) (reply Reply, missing string) {
	reply = Reply{Text: r.Text, CutOff: r.CutOff, Refused: r.Refused}
	var resolve func(v any) any
	resolve = func(v any) any {
		switch v := v.(type) {
		case string:
			if wanted, ok := strings.CutPrefix(v, "@"); ok {
				ref := Find(p, wanted)
				if ref == "" {
					missing = wanted
				}
				return ref
			}
		case map[string]any:
			out := map[string]any{}
			for key, e := range v {
				out[key] = resolve(e)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = resolve(e)
			}
			return out
		}
		return v
	}
	for _, c := range r.Calls {
		args, _ := resolve(c.Args).(map[string]any)
		reply.Calls = append(reply.Calls, Call{Name: c.Name, Args: args, Raw: c.Raw})
	}
	return reply, missing
}

var (
	taskLine    = regexp.MustCompile(`(?m)^(?:TASK|PLAN|JUDGE) (.*)$`)
	elementLine = regexp.MustCompile(`(?m)^\W*- ([a-zA-Z]+) ("(?:[^"\\]|\\.)*")?.*\[ref=([^\]]+)\]`)
)

// Task returns the task line of a prompt without its first word, "" if it has none.
func Task(p Prompt) string {
	all := taskLine.FindAllStringSubmatch(p.Text(), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// Element is an element that a screen shows.
type Element struct{ Role, Name, Ref string }

// Elements returns the elements of all blocks of a prompt, in their order.
func Elements(p Prompt) []Element {
	var list []Element
	for _, m := range elementLine.FindAllStringSubmatch(p.Text(), -1) {
		var name string
		_ = json.Unmarshal([]byte(m[2]), &name) // an element may have no name
		list = append(list, Element{m[1], name, m[3]})
	}
	return list
}

// Find returns the reference of the element that is written as "ROLE NAME" or "NAME", "" if the screen does not show it.
func Find(p Prompt, wanted string) string {
	for i := len(p.Blocks) - 1; i >= 0; i-- {
		for _, e := range Elements(Prompt{Blocks: p.Blocks[i : i+1]}) {
			if e.Name != "" && wanted == e.Name || wanted == strings.TrimSpace(e.Role+" "+e.Name) {
				return e.Ref
			}
		}
	}
	return ""
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Judging returns a policy that gives a verdict on each claim, and one on each negation. Its evidence is the first line
// of the screen with a text.
func Judging(claim, negation string) Policy {
	return func(p Prompt) Reply {
		verdict := claim
		if strings.HasPrefix(Task(p), "negation: it is not true that ") {
			verdict = negation
		}
		return Judgment(verdict, "It says "+Task(p), quoted.FindString(p.Blocks[0].Text))
	}
}

// Judgment returns the reply that judges a claim.
func Judgment(verdict, why string, evidence ...string) Reply {
	lines := make([]any, len(evidence))
	for i, line := range evidence {
		lines[i] = line
	}
	return Reply{Calls: []Call{{Name: "judge", Args: map[string]any{"verdict": verdict, "why": why, "evidence": lines}}}}
}

// Examined returns a policy that passes the requests of doctor --llm: it reports the words of the text, and the colour
// of the picture that doctor sends.
func Examined() Policy {
	word := regexp.MustCompile(`(?m)^(first|last) word: (\w+)$`)
	return func(p Prompt) Reply {
		args := map[string]any{}
		for _, m := range word.FindAllStringSubmatch(p.Text(), -1) {
			args[m[1]] = m[2]
		}
		for _, b := range p.Blocks {
			if len(b.Image) > 0 {
				args["colour"] = "red"
			}
		}
		return Reply{Calls: []Call{{Name: "report", Args: args}}}
	}
}

// Rulebook reads rules from JSON: a list of Rule.
func Rulebook(data []byte) ([]Rule, error) {
	var rules []Rule
	if err := strict(data, &rules); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return rules, nil
}
