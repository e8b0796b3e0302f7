package phones

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// call is one command that the shell of a simulated phone runs.
type call struct {
	ctx            context.Context //nolint:containedctx // a command ends with its connection
	phone          *Android
	args           []string // the first one is the command
	stdin          io.Reader
	stdout, stderr io.Writer
}

func (c *call) printf(format string, a ...any) { fmt.Fprintf(c.stdout, format, a...) }
func (c *call) errorf(format string, a ...any) { fmt.Fprintf(c.stderr, format, a...) }

// arg returns an argument, empty without one.
func (c *call) arg(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return ""
}

// has reports whether an argument was given.
func (c *call) has(option string) bool { return slices.Contains(c.args, option) }

// after returns the argument after an option, empty without one.
func (c *call) after(options ...string) string {
	for i, a := range c.args[:max(0, len(c.args)-1)] {
		if slices.Contains(options, a) {
			return c.args[i+1]
		}
	}
	return ""
}

// allUsers is the user that stands for all of them.
const allUsers = -1

// takeUser removes --user from the arguments, and returns the user who is named there, or else byDefault.
func (c *call) takeUser(byDefault int) int {
	i := slices.Index(c.args, "--user")
	if i < 0 || i+1 == len(c.args) {
		return byDefault
	}
	name := c.args[i+1]
	c.args = slices.Delete(slices.Clone(c.args), i, i+2)
	switch name {
	case "all":
		return allUsers
	case "current", "cur":
		return c.phone.options.User
	}
	user, _ := strconv.Atoi(name)
	return user
}

// ofOther reports whether a user is another one than the one who uses the phone.
func (c *call) ofOther(user int) bool { return user != allUsers && user != c.phone.options.User }

// last returns the last argument.
func (c *call) last() string { return c.args[len(c.args)-1] }

// Shell implements adbd.Phone.
func (p *Android) Shell(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) int {
	p.mu.Lock()
	p.commands = append(p.commands, command)
	hangs := p.hangOn != "" && strings.HasPrefix(command, p.hangOn)
	if after := p.after.do; after != nil && strings.HasPrefix(command, p.after.command) {
		p.after.do = nil
		defer after()
	}
	p.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return 1
	}
	words, err := splitWords(command)
	if err != nil {
		fmt.Fprintf(stderr, "/system/bin/sh: %v\n", err)
		return 1
	}
	return p.list(ctx, words, stdin, stdout, stderr)
}

// list runs commands that are separated by ;, && and ||.
func (p *Android) list(ctx context.Context, words []word, stdin io.Reader, stdout, stderr io.Writer) int {
	status, run := 0, true
	for len(words) > 0 {
		end := operatorIndex(words, ";", "&&", "||")
		rest, operator := []word(nil), ";"
		command := words
		if end >= 0 {
			command, operator, rest = words[:end], words[end].text, words[end+1:]
		}
		if run && len(command) > 0 {
			status = p.pipeline(ctx, command, status, stdin, stdout, stderr)
		}
		run = operator == ";" || (operator == "&&") == (status == 0)
		words = rest
	}
	return status
}

// pipeline runs commands that are separated by |.
func (p *Android) pipeline(
	ctx context.Context, words []word, previous int, stdin io.Reader, stdout, stderr io.Writer,
) int {
	for {
		end := operatorIndex(words, "|")
		if end < 0 {
			return p.simple(ctx, words, previous, stdin, stdout, stderr)
		}
		var output bytes.Buffer
		p.simple(ctx, words[:end], previous, stdin, &output, stderr)
		stdin, words = &output, words[end+1:]
	}
}

// operatorIndex returns where the first of some operators is, outside of parentheses; -1 without one.
func operatorIndex(words []word, operators ...string) int {
	depth := 0
	for i, w := range words {
		switch {
		case !w.operator:
		case w.text == "(":
			depth++
		case w.text == ")":
			depth--
			if depth == 0 && slices.Contains(operators, ")") {
				return i
			}
		case depth == 0 && slices.Contains(operators, w.text):
			return i
		}
	}
	return -1
}

// simple runs one command, or a list in parentheses, with its redirections.
func (p *Android) simple(
	ctx context.Context, words []word, previous int, stdin io.Reader, stdout, stderr io.Writer,
) int {
	c := &call{ctx: ctx, phone: p, stdin: stdin, stdout: stdout, stderr: stderr}
	var inner []word
	if end := operatorIndex(words, ")"); end > 0 && words[0].operator && words[0].text == "(" {
		inner, words = words[1:end], words[end+1:]
	}
	var file *redirection
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.operator:
			c.args = append(c.args, strings.ReplaceAll(w.text, "\x00?", strconv.Itoa(previous)))
		case w.text == "2>&1":
			c.stderr = c.stdout
		case i+1 < len(words):
			i++
			problem := ""
			if w.text == "<" {
				problem = c.readFrom(words[i].text)
			} else {
				file, problem = c.writeTo(w.text, words[i].text)
			}
			if problem != "" {
				c.errorf("/system/bin/sh: can't %s\n", problem)
				return 1
			}
		}
	}
	status := 0
	switch {
	case inner != nil:
		status = p.list(ctx, inner, c.stdin, c.stdout, c.stderr)
	case len(c.args) > 0:
		status = c.run()
	}
	if file != nil {
		p.write(file.name, file.data.Bytes(), true)
	}
	return status
}

// redirection is a file that output of a command goes to.
type redirection struct {
	name string
	data bytes.Buffer
}

// readFrom makes a file the input of the command. It returns what cannot be done and why, empty if it can.
func (c *call) readFrom(name string) string {
	file, err := c.phone.files.Stat(name)
	if err != nil && name != "/dev/null" {
		return "open " + name + ": " + errorText(err)
	}
	c.stdin = bytes.NewReader(file.Data)
	return ""
}

// writeTo makes a file, which it creates or empties before the command runs, that of the operator. It returns nil for
// /dev/null, and what cannot be done and why, empty if it can.
func (c *call) writeTo(operator, name string) (*redirection, string) {
	file := &redirection{name: name}
	if strings.HasPrefix(operator, "2") {
		c.stderr = &file.data
	} else {
		c.stdout = &file.data
	}
	if name == "/dev/null" {
		return nil, ""
	}
	if problem := c.phone.write(name, nil, strings.HasSuffix(operator, ">>")); problem != "" {
		return nil, "create " + name + ": " + problem
	}
	return file, ""
}

// fileTime is the time of files that commands write.
var fileTime = time.Unix(1700000000, 0) //nolint:gochecknoglobals // a constant

// run runs the command, and returns its exit status.
func (c *call) run() int {
	f := commands()[c.args[0]]
	if f == nil {
		c.unknown()
		c.errorf("/system/bin/sh: %s: inaccessible or not found\n", c.args[0])
		return 127
	}
	return f(c)
}

// unknown notes that the simulation does not know the command, or what it is to do.
func (c *call) unknown() {
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	c.phone.unknownCommands = append(c.phone.unknownCommands, strings.Join(c.args, " "))
}

// word is a word of a command line, or an operator.
type word struct {
	text     string
	operator bool
}

// splitWords splits a command line as a shell does: quotes, backslashes, operators. $? becomes "\x00?", which is
// replaced when the command runs; other variables are empty.
func splitWords(line string) ([]word, error) {
	var words []word
	var text strings.Builder
	started := false
	finish := func() {
		if started {
			words = append(words, word{text: text.String()})
		}
		text.Reset()
		started = false
	}
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			finish()
		case c == '\n':
			finish()
			words = append(words, word{";", true})
		case c == '\'':
			quoted, _, closed := strings.Cut(rest[1:], "'")
			if !closed {
				return nil, fmt.Errorf("no closing quote")
			}
			text.WriteString(quoted)
			started = true
			i += len(quoted) + 1
		case c == '"':
			length, err := doubleQuoted(rest[1:], &text)
			if err != nil {
				return nil, err
			}
			started = true
			i += length
		case c == '\\' && len(rest) > 1:
			text.WriteByte(rest[1])
			started = true
			i++
		case c == '$' && strings.HasPrefix(rest, "$?"):
			text.WriteString("\x00?")
			started = true
			i++
		default:
			if operator := operatorAt(rest, started); operator != "" {
				finish()
				words = append(words, word{operator, true})
				i += len(operator) - 1
				continue
			}
			text.WriteByte(c)
			started = true
		}
	}
	finish()
	return words, nil
}

// operatorAt returns the operator that a line begins with. 2> is one only at the begin of a word.
func operatorAt(line string, inWord bool) string {
	for _, operator := range []string{"2>&1", "2>>", "2>", "&&", "||", "|", ";", ">>", ">", "<", "(", ")"} {
		if strings.HasPrefix(line, operator) && (operator[0] != '2' || !inWord) {
			return operator
		}
	}
	return ""
}

// doubleQuoted writes what is in double quotes, and returns its length with the closing quote.
func doubleQuoted(rest string, text *strings.Builder) (int, error) {
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '"':
			return i + 1, nil
		case rest[i] == '\\' && i+1 < len(rest) && strings.IndexByte("\"\\$`", rest[i+1]) >= 0:
			i++
			text.WriteByte(rest[i])
		case strings.HasPrefix(rest[i:], "$?"):
			i++
			text.WriteString("\x00?")
		default:
			text.WriteByte(rest[i])
		}
	}
	return 0, fmt.Errorf("no closing quote")
}
