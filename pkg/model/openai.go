package model

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// openAI returns the library's client. The exchange adds the key.
func (c *Client) openAI(client *http.Client) *openai.Client {
	config := openai.DefaultConfig("")
	config.BaseURL, config.HTTPClient = c.base.String(), client
	return openai.NewClientWithConfig(config)
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// dataURL returns a PNG as OpenAI's protocols take it.
func dataURL(png []byte) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(png)
}

// undecodable returns the error for an answer that the library could not read.
func (c *Client) undecodable(err error) error {
	if fault.As(err) != nil {
		return err
	}
	var hint string
	if strings.Contains(err.Error(), "arguments") {
		hint = "set toolCalls: json for the model in trailblaze.yaml: the provider sends arguments in a form that the protocol does not have"
	}
	f := c.fault(err)
	if e := fault.As(f); e != nil && hint != "" {
		e.Hint = hint
	}
	return f
}

// structured is the form of calls in a structured answer.
type structured struct {
	Calls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"calls"`
}

// structuredSchema returns the schema of a structured answer with calls of some tools.
func structuredSchema(tools []Tool) json.RawMessage {
	type object = map[string]any
	forms := make([]any, len(tools))
	for i, t := range tools {
		var arguments any = t.Schema
		if strings.Contains(string(t.Schema), `"$ref"`) { // it would point elsewhere
			arguments = object{"type": "object"}
		}
		forms[i] = object{
			"type": "object", "required": []string{"name", "arguments"}, "additionalProperties": false,
			"properties": object{"name": object{"type": "string", "enum": []string{t.Name}}, "arguments": arguments},
		}
	}
	schema, _ := json.Marshal(object{ // the tools' schemas were validated
		"type": "object", "required": []string{"calls"}, "additionalProperties": false,
		"properties": object{"calls": object{"type": "array", "items": object{"anyOf": forms}}},
	})
	return schema
}

// structuredRules returns a system text that describes tools to a model that cannot call them.
func structuredRules(system string, tools []Tool) string {
	var b strings.Builder
	b.WriteString(system)
	b.WriteString("\n\nCall tools by answering with JSON only: {\"calls\": [{\"name\": NAME, \"arguments\": {…}}]}. The tools:\n")
	for _, t := range tools {
		b.WriteString("- " + t.Name + ": " + t.Description + "\n  arguments: " + string(t.Schema) + "\n")
	}
	return strings.TrimSpace(b.String())
}

// structuredAnswer reads calls from a text.
func structuredAnswer(said []string) Answer {
	text := strings.Join(said, "\n")
	start, end := strings.Index(text, "{"), strings.LastIndex(text, "}")
	var s structured
	if start < 0 || end < start || json.Unmarshal([]byte(text[start:end+1]), &s) != nil || len(s.Calls) == 0 {
		return newAnswer(said, nil)
	}
	calls := make([]Call, len(s.Calls))
	for i, c := range s.Calls {
		args := string(c.Arguments)
		if quoted := ""; json.Unmarshal(c.Arguments, &quoted) == nil {
			args = quoted
		}
		calls[i] = newCall(c.Name, args)
	}
	return newAnswer(nil, calls)
}
