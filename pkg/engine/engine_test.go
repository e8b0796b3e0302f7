package engine

import "testing"

func TestRunsScript(t *testing.T) {
	t.Parallel()
	if got := run(t, `process.stdout.write("hello\n"); console.log("a", 1, {b: [2]})`); got != "hello\na 1 { b: [ 2 ] }\n" {
		t.Errorf("stdout %q", got)
	}
}
