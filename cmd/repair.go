package cmd

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// repairCommands returns the command that looks back at a session, and those that replay its trail in a live session, on
// the same device and with the same flags, up to the call that failed. The latter are left out for a trail that no
// session can replay, because it is not below trailsDir.
func (cmd *runCommand) repairCommands(
	w *workspace.Workspace, f runFlags, session string, started event.TrailStarted, failed event.TrailFinished,
) []string {
	var commands [][]string
	if session != "" {
		commands = [][]string{append([]string{"studio", session}, sharedFlags(f, "studio")...)}
	}
	file, project := cmd.abs(failed.File), w.Project
	below, err := filepath.Rel(project.TrailsDir, file)
	name, nameErr := filepath.Rel(project.Root, file)
	if err == nil && nameErr == nil && filepath.IsLocal(below) {
		start := append([]string{"session", "start"}, cmd.scopeWords(w, f, started)...)
		start = append(start, sharedFlags(f, "session start")...)
		replay := append([]string{"session", "replay", filepath.ToSlash(name)}, sharedFlags(f, "session replay")...)
		commands = append(commands, start, replay)
	}
	lines := make([]string, len(commands))
	for i, words := range commands {
		for j, word := range words {
			words[j] = cmd.redactor.Text(word) // before quoting, which changes it
		}
		lines[i] = cmd.commandName() + " " + shellLine(words)
	}
	return lines
}

// scopeWords returns the flags for the scope of a trail, where a session without them would have another one.
func (cmd *runCommand) scopeWords(w *workspace.Workspace, f runFlags, started event.TrailStarted) []string {
	if started.Device != "" {
		return []string{"--device", started.Device}
	}
	var words []string
	choice, _ := f.choice(cmd.program, nil) // of a run that has begun, so the flags are valid
	same, err := scope.Resolve(w.Request(choice))
	if started.Target != "" && (err != nil || same.Target.ID != started.Target) {
		words = append(words, "--target", started.Target)
	}
	if err != nil || same.Driver.Key != started.Driver {
		words = append(words, "--driver", started.Driver)
	}
	return words
}

// sharedFlags returns the flags of a run, with their values, that another command has too. It leaves out those for the
// output, and those of the device, which a run may repeat.
func sharedFlags(f runFlags, command string) []string {
	other, _, err := f.command.Root().Find(strings.Fields(command))
	if err != nil {
		return nil
	}
	var words []string
	f.command.Flags().Visit(func(flag *pflag.Flag) {
		switch {
		case flag.Name == "project":
		case flag.Name == "device" || other.LocalNonPersistentFlags().Lookup(flag.Name) == nil:
			return
		}
		words = append(words, flagWords(flag)...)
	})
	return words
}

func flagWords(flag *pflag.Flag) []string {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		var words []string
		for _, value := range list.GetSlice() {
			if name, secret, _ := strings.Cut(value, "="); flag.Name == "secret" && !strings.HasPrefix(secret, "@") {
				value = name // whose value is then read from the environment
			}
			words = append(words, "--"+flag.Name, value)
		}
		return words
	}
	if flag.Value.Type() == "bool" {
		return []string{"--" + flag.Name + "=" + flag.Value.String()}
	}
	return []string{"--" + flag.Name, flag.Value.String()}
}

// shellLine returns words as a line for the shell of the system.
func shellLine(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%"
	line := make([]string, len(words))
	for i, word := range words {
		switch {
		case word != "" && strings.Trim(word, plain) == "":
			line[i] = word
		case runtime.GOOS == "windows":
			line[i] = `"` + word + `"`
		default:
			line[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(line, " ")
}
