package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// dotenvFile is the file with environment variables of a project.
const dotenvFile = ".env"

// dotenv reads the variables of .env, which l.env then returns where the environment does not have them.
func (l *loader) dotenv() {
	path := filepath.Join(l.project.Root, dotenvFile)
	data, err := files.Read(path, yamldoc.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.fileProblem(path, "", "cannot be read: %v", reason(err))
		return
	}
	values := map[string]string{}
	for i, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		name, value, err := dotenvLine(strings.TrimSpace(line))
		if err != nil {
			l.problems = append(l.problems, fault.Problem{
				Kind: fault.Config, File: path, Line: i + 1, Column: 1, Message: err.Error(),
				Hint: `write NAME=value, or NAME="value" for a value with spaces or #`,
			})
			continue
		}
		values[name] = value
	}
	environment := l.env
	l.env = func(name string) (string, bool) {
		if value, ok := environment(name); ok {
			return value, true
		}
		value, ok := values[name]
		return value, ok && name != ""
	}
}

// dotenvLine parses a line of a file of variables. The name is empty for an empty line and a comment. An error does not
// quote the line, which may be a secret.
func dotenvLine(line string) (name, value string, err error) {
	if line == "" || strings.HasPrefix(line, "#") {
		return "", "", nil
	}
	name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if strings.HasPrefix(value, "#") && !strings.HasSuffix(line, "="+value) { // NAME= # a comment
		value = ""
	}
	if !ok || !variableName().MatchString(name) {
		return "", "", errors.New("this line does not set a variable")
	}
	if value == "" || value[0] != '"' && value[0] != '\'' {
		value, _, _ = strings.Cut(value, " #")
		return name, strings.TrimSpace(value), nil
	}
	quote := value[:1]
	end := closingQuote(value)
	if rest := strings.TrimSpace(value[end+1:]); end == 0 || rest != "" && !strings.HasPrefix(rest, "#") {
		return "", "", fmt.Errorf("the value of %s does not end with its quotation mark", name)
	}
	if quote == "'" {
		return name, value[1:end], nil
	}
	text, err := strconv.Unquote(value[:end+1])
	if err != nil {
		return "", "", fmt.Errorf("the value of %s has an invalid escape", name)
	}
	return name, text, nil
}

// closingQuote returns the index of the quotation mark that ends a quoted value, 0 without one.
func closingQuote(value string) int {
	for i := 1; i < len(value); i++ {
		switch {
		case value[i] == value[0]:
			return i
		case value[i] == '\\' && value[0] == '"':
			i++
		}
	}
	return 0
}

// secretNames reads the names of secrets, and looks up their values.
func (l *loader) secretNames(n yamldoc.Node) {
	p := l.project
	p.SecretValues = map[string]string{}
	for _, item := range n.Items() {
		name := text(item)
		if name != "" && !variableName().MatchString(name) {
			item.Errorf("name an environment variable, such as API_TOKEN; its value does not belong in this file",
				"this is not the name of a variable")
			continue
		}
		p.SecretNames = append(p.SecretNames, name)
		if value, _ := l.env(name); value != "" {
			p.SecretValues[name] = value
		}
	}
}

// MissingSecrets returns the names of the secrets that have no value.
func (p *Project) MissingSecrets() []string {
	var missing []string
	for _, name := range p.SecretNames {
		if _, ok := p.SecretValues[name]; !ok {
			missing = append(missing, name)
		}
	}
	return missing
}
