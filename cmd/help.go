package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// helpTopics returns the help pages that do not describe a command. options are those of all kinds of device.
func helpTopics(options []device.Option) []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesHelp},
		{
			Use: "environment", Short: "Environment variables that trailblaze reads, and those that servers get",
			Long: environmentHelp(options),
		},
	}
}

// rootHelp returns the help of the program, which fits a terminal of 24 lines and 80 columns.
func rootHelp(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("trailblaze records UI tests as trails and replays them, with tools of your own.\n")
	b.WriteString("To begin: trailblaze init && trailblaze run\n\nCommands:\n")
	var more, topics []string
	for _, c := range root.Commands() {
		switch {
		case c.GroupID == "main":
			fmt.Fprintf(&b, "  %-10s  %s\n", c.Name(), c.Short)
		case c.IsAdditionalHelpTopicCommand():
			topics = append(topics, c.Name())
		case c.GroupID == "more":
			more = append(more, c.Name())
		}
	}
	fmt.Fprintf(&b, "\nMore commands: %s\n\n", strings.Join(more, ", "))
	b.WriteString(`Flags of every command: --help, --project DIR, --runtime bun|node|embedded,
  --json, --no-color, --quiet, --verbose
`)
	fmt.Fprintf(&b, "`trailblaze help NAME` describes a command or a topic: %s\n", strings.Join(topics, ", "))
	return b.String()
}

const exitCodesHelp = `Exit codes

  0    all trails passed or were skipped
  1    at least one trail failed
  2    infrastructure: a server or device could not be started, is in use or broke, a runtime is missing, a trail ended as error
  3    misuse: flags, project files, trail files
  4    nothing matched
  124  --timeout was reached
  130  interrupted (Ctrl-C, hang-up)
  143  terminated

When several apply the worst wins: 2, then 3, then 1, then 0. The codes of a run that was stopped (124, 130, 143) win over
all others.`

// variables is a line about environment variables; text may have several lines.
type variables struct{ names, text string }

// environmentHelp returns the help about environment variables.
func environmentHelp(options []device.Option) string {
	var b strings.Builder
	b.WriteString("Read by trailblaze. A flag wins over its variable, and a variable over the project file.\n\n")
	writeVariables(&b, flagVariables(options))
	writeVariables(&b, otherVariables())
	b.WriteString("\nThe project file can use any variable as ${NAME}.\n")
	b.WriteString("\nSet for every server that trailblaze starts. These are a public contract.\n\n")
	writeVariables(&b, serverVariables())
	b.WriteString(`
A server inherits the other variables of trailblaze, and the env: of its entry in the project file wins over all of them.`)
	return b.String()
}

// writeVariables writes two columns: the names, and the text that describes them.
func writeVariables(b *strings.Builder, lines []variables) {
	const width = 28
	for _, v := range lines {
		names := v.names
		if len(names) > width-2 {
			fmt.Fprintf(b, "  %s\n", names)
			names = ""
		}
		for text := range strings.SplitSeq(v.text, "\n") {
			fmt.Fprintf(b, "  %-*s%s\n", width, names, text)
			names = ""
		}
	}
}

// flagVariables returns the variables that have the same effect as a flag, with those of the devices.
func flagVariables(options []device.Option) []variables {
	lines := []variables{
		{"TRAILBLAZE_PROJECT", "project root (--project)"},
		{"TRAILBLAZE_TARGET", "target (--target)"},
		{"TRAILBLAZE_DRIVER", "driver (--driver)"},
		{"TRAILBLAZE_RUNTIME", "JavaScript runtime: bun, node or embedded (--runtime)"},
		{sessionVariable, "session in which tool, snapshot, toolbox list and session work (--session)"},
	}
	named := map[string]bool{} // two kinds of device may share an option
	for _, o := range options {
		if o.Env != "" && !named[o.Env] {
			named[o.Env] = true
			lines = append(lines, variables{o.Env, strings.ReplaceAll(o.Usage, "`", "") + " (--" + o.Flag + ")"})
		}
	}
	return lines
}

// otherVariables returns the variables without a corresponding flag.
func otherVariables() []variables {
	return []variables{
		{"TRAILBLAZE_PROGRAM", "how you run trailblaze, for the commands in its messages; default: trailblaze, or npx trailblaze\n" +
			"if npx runs it"},
		{"TRAILBLAZE_CONFIG_DIR", "folder to read in place of trails/config of a workspace of the JVM Trailblaze"},
		{"TRAILBLAZE_CACHE_DIR", "absolute path of the folder for cached bundles and versions of runtimes, and for the\n" +
			"lists of running processes and sessions; default: trailblaze in XDG_CACHE_HOME, LocalAppData or HOME/.cache,\n" +
			"whichever is the first that is set. A folder of another user, or into which every user may write, is not used"},
		{"TRAILBLAZE_ELECTRON_COMMAND, TRAILBLAZE_ELECTRON_ARGS", "the Electron app that the driver playwright-electron starts, and its arguments,\n" +
			"separated by spaces; these and the next three win over electron: in the file of the target"},
		{"TRAILBLAZE_ELECTRON_CDP_URL, TRAILBLAZE_ELECTRON_CDP_PORT", "where an Electron app runs already, or the port for DevTools of one that\n" +
			"is started"},
		{"TRAILBLAZE_ELECTRON_HEADLESS", "true starts an Electron app without a window"},
		{"PATH, PATHEXT", "where runtimes, browsers and the commands of servers are found"},
		{"DISPLAY, WAYLAND_DISPLAY", "without both, an emulator that is started on Linux has no window, and the studio opens no browser"},
		{"HOME, LocalAppData, ProgramFiles, ProgramFiles(x86)", "where else browsers are found on macOS and Windows"},
		{"ADB_SERVER_SOCKET, ANDROID_ADB_SERVER_ADDRESS, ANDROID_ADB_SERVER_PORT", "where the adb server is; default: 127.0.0.1:5037"},
		{"ANDROID_HOME, ANDROID_SDK_ROOT, LOCALAPPDATA", "where else the adb program is found"},
		{"APPIUM_HOME, USERPROFILE", "where else the UiAutomator2 server of Appium is found"},
		{"TMPDIR", "folder for temporary files, such as browser profiles"},
		{"NO_COLOR, TERM, CI", "no colour and no live lines when NO_COLOR is not empty, TERM is dumb, or CI is set"},
		{"CI", "with it set, llm: heal: write in trailblaze.yaml counts as propose"},
		{"CI, GITHUB_ACTIONS, TF_BUILD, TEAMCITY_VERSION", "with one of them set, a tool's output cannot contain commands to the CI runner"},
		{"GITHUB_ACTIONS, GITHUB_WORKSPACE", "with GITHUB_ACTIONS=true, failures are also annotations at their files and lines"},
		{"GITHUB_SHA, CI_COMMIT_SHA", "the commit that reports name, in place of the one in .git"},
		{"LC_ALL, LC_CTYPE, LANG", "only ASCII symbols when the first that is set names another encoding than UTF-8"},
		{"TZ", "local time, also of scripts in the embedded engine, for which it cannot be set in a server's env"},
		{"WT_SESSION", "colour and live lines on Windows: only in Windows Terminal, which sets it"},
		{"ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY", "keys of providers of models, also from .env;\n" +
			"without a flag that asks a model they have no effect"},
		{"HTTP_PROXY, HTTPS_PROXY, NO_PROXY", "proxy for servers with a url and for models, never for this machine"},
		{"SSL_CERT_FILE, SSL_CERT_DIR", "certificate authorities to trust for those (not on macOS and Windows)"},
		{
			"NODE_EXTRA_CA_CERTS, NODE_TLS_REJECT_UNAUTHORIZED, SHELL",
			"as in Node, for scripts that run in the embedded engine",
		},
	}
}

// serverVariables returns the variables that servers get.
func serverVariables() []variables {
	return []variables{
		{"TRAILBLAZE_DEVICE_PLATFORM", "ANDROID, IOS or WEB"},
		{"TRAILBLAZE_DEVICE_DRIVER", "key of the driver"},
		{"TRAILBLAZE_DEVICE_NAME", "name of the device, as after --device; absent when it has none"},
		{"TRAILBLAZE_DEVICE_ID", "serial or UDID of the device, or else its name; absent when it has neither"},
		{
			"TRAILBLAZE_DEVICE_WIDTH_PX, TRAILBLAZE_DEVICE_HEIGHT_PX",
			"size of the device in pixels, 0 when unknown",
		},
		{"TRAILBLAZE_SESSION_ID", "id of the session"},
		{"TRAILBLAZE_RUN_ID", "id of the run, by which a later run finds what a killed one left running"},
		{"TRAILBLAZE_PROCESS_ID", "id of the process, by which everything that it starts is found when it ends"},
		{"TRAILBLAZE_TOOLSET_FILE", "absolute path of the script (scripts only)"},
		{
			"TRAILBLAZE_BASE_URL, TRAILBLAZE_CALLBACK_URL, TRAILBLAZE_PORT",
			"where tools can call other tools: http://127.0.0.1:<port>, the same with its path, and the\n" +
				"port; absent while servers are only listed, as are the next two",
		},
		{"TRAILBLAZE_SESSION_TOKEN", "secret of the session, for the Authorization header of such a call"},
		{"TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS", "how long to wait for the response to such a call, in milliseconds"},
		{"NO_PROXY, no_proxy", "the inherited value with 127.0.0.1,localhost,::1 added"},
	}
}
