package spawn

import (
	"slices"
	"testing"
)

func TestShellOnWindows(t *testing.T) {
	t.Parallel()
	const command = `"C:\Program Files\app\serve.exe" --title "my app" && echo done`
	program, args := shellOf("windows", command)
	if program != "cmd" {
		t.Errorf("program %s", program)
	}
	got := shellCommandLine(append([]string{`C:\Windows\System32\cmd.exe`}, args...))
	if want := `cmd.exe /d /s /c "` + command + `"`; got != want {
		t.Errorf("command line %s, want %s", got, want)
	}
	for _, other := range [][]string{
		nil, {"cmd.exe"}, {"cmd.exe", "/c", "x"}, {"node.exe", "/d", "/s", "/c", "x"}, {"cmd.exe", "/d", "/s", "/c", "x", "y"},
	} {
		if got := shellCommandLine(other); got != "" {
			t.Errorf("%v: command line %s", other, got)
		}
	}
}

func TestShellElsewhere(t *testing.T) {
	t.Parallel()
	if program, args := shellOf("darwin", "a b"); program != "sh" || !slices.Equal(args, []string{"-c", "a b"}) {
		t.Errorf("%s %q", program, args)
	}
}
