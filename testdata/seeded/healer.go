package seeded

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/testdata/models"
)

// Healer returns the policy of a model that wants trails to pass, whatever the shop does. In place of a call that failed
// it makes those of the change, whose name is in the title of the trail. Without some, it makes the same call on the
// element that looks most like the recorded one. It never gives up by itself.
func Healer(changes ...[]Change) models.Policy {
	list := slices.Concat(changes...)
	var mu sync.Mutex
	turns := map[string]int{}
	return func(p models.Prompt) models.Reply {
		mu.Lock()
		turn := turns[p.Blocks[0].Text]
		turns[p.Blocks[0].Text]++
		mu.Unlock()
		i := slices.IndexFunc(list, func(c Change) bool { return strings.Contains(p.Blocks[0].Text, "("+c.Name+")") })
		if i < 0 {
			return models.GiveUp("the trail is unknown")
		}
		todo := list[i].Calls
		if len(todo) == 0 || !repairs(todo, p) {
			todo = calls(similar(p))
		}
		if turn < len(todo) {
			return models.Rules(models.Rule{Turns: []models.Reply{{Calls: todo[turn : turn+1]}}})(p)
		}
		return models.Reply{Calls: calls(call("step_done", "status", "done", "why", "The step is repaired."))}
	}
}

var failedCall = regexp.MustCompile(`failed: (\w+) (\{.*)`)

// repairs reports whether calls are for the call that failed: a change may break several calls of a trail.
func repairs(todo []models.Call, p models.Prompt) bool {
	m := failedCall.FindStringSubmatch(p.Blocks[0].Text)
	return m != nil && strings.HasPrefix(m[1], "web_verify") == strings.HasPrefix(todo[len(todo)-1].Name, "web_verify")
}

// similar returns the call that failed with the element of the screen whose name has most in common with the recorded
// one. A check is made on an element that has what it expects.
func similar(p models.Prompt) models.Call {
	m := failedCall.FindStringSubmatch(p.Blocks[0].Text)
	if m == nil {
		return call("look")
	}
	args := map[string]any{}
	_ = json.Unmarshal([]byte(m[2]), &args) // a long one is cut
	var wanted []string
	for name, value := range args {
		if text, ok := value.(string); ok {
			wanted = append(wanted, text)
		}
		if name == "nodeSelector" || name == "ref" || name == "selector" {
			data, _ := json.Marshal(value) // it was JSON
			wanted = append(wanted, string(data))
			delete(args, name)
		}
	}
	best, most := "", -1
	for _, e := range models.Elements(p) {
		n := 0
		for _, word := range strings.FieldsFunc(e.Name, func(r rune) bool { return r == ' ' || r == ',' }) {
			if strings.Contains(strings.Join(wanted, " "), word) {
				n++
			}
		}
		if strings.Contains(strings.Join(wanted, " "), e.Role) {
			n++
		}
		if n > most {
			best, most = e.Ref, n
		}
	}
	args["ref"] = best
	return models.Call{Name: m[1], Args: args}
}
