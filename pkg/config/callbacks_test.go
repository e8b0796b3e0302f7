package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestTokenOfCallbacks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 32)
	for name, tc := range map[string]struct {
		of      string // the value in the environment
		secrets map[string]string
		want    string
		problem string
	}{
		"set":                 {of: long, want: long},
		"a secret":            {of: "short", secrets: map[string]string{"MY_TOKEN": long + "1"}, want: long + "1"},
		"not set":             {problem: "MY_TOKEN, the token of `callbacks` in trailblaze.yaml, is not set"},
		"short":               {of: long[1:], problem: "has to have 32 to 1000 characters"},
		"with a space":        {of: long + " " + long, problem: "none a space"},
		"an empty secret":     {of: long, secrets: map[string]string{"MY_TOKEN": ""}, problem: "is not set"},
		"with a line break":   {of: long + "\n", problem: "none a space"},
		"too long to send":    {of: strings.Repeat("k", 1001), problem: "1000"},
		"with another letter": {of: long + "é", problem: "ASCII"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, filepath.Join(root, "trailblaze.yaml"), []byte("callbacks: { token: MY_TOKEN }\n"))
			p, problems := config.Load(root, func(name string) (string, bool) { return tc.of, name == "MY_TOKEN" && tc.of != "" })
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			if tc.of != p.Secrets["MY_TOKEN"] {
				t.Errorf("the value to redact is %q", p.Secrets["MY_TOKEN"])
			}
			token, err := p.Callbacks.Token(tc.secrets)
			if token != tc.want || (err == nil) != (tc.problem == "") {
				t.Fatalf("%q, %v", token, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.problem) || fault.ExitCode(err) != 3 || strings.Contains(err.Error(), "kk")) {
				t.Errorf("%v with exit code %d, want %q", err, fault.ExitCode(err), tc.problem)
			}
		})
	}
	if token, err := (config.Callbacks{}).Token(map[string]string{"": long}); token != "" || err != nil {
		t.Errorf("without callbacks: %q, %v", token, err)
	}
}
