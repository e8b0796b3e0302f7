package report

import "testing"

func TestDecideStyle(t *testing.T) {
	t.Parallel()
	type env map[string]string
	live := Style{Color: true, Live: true, Width: 100}
	still := Style{Width: 100}
	for name, tt := range map[string]struct {
		env        env
		noTerminal bool
		width      int
		noColor    bool
		want       Style
	}{
		"terminal":                     {env{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, false, 100, false, live},
		"terminal, empty environment":  {env{}, false, 100, false, live},
		"no terminal":                  {env{"TERM": "xterm"}, true, 100, false, Style{}},
		"width unknown":                {env{}, false, 0, false, Style{Color: true, Live: true, Width: 80}},
		"--no-color":                   {env{}, false, 100, true, still},
		"NO_COLOR":                     {env{"NO_COLOR": "0"}, false, 100, false, still},
		"NO_COLOR, empty":              {env{"NO_COLOR": ""}, false, 100, false, live},
		"TERM=dumb":                    {env{"TERM": "dumb"}, false, 100, false, Style{Width: 100, ASCII: true}},
		"CI":                           {env{"CI": "true"}, false, 100, false, still},
		"CI=1":                         {env{"CI": "1"}, false, 100, false, still},
		"CI=false":                     {env{"CI": "False"}, false, 100, false, live},
		"CI, empty":                    {env{"CI": ""}, false, 100, false, live},
		"LANG=C":                       {env{"LANG": "C"}, true, 0, false, Style{ASCII: true}},
		"LC_ALL before LANG":           {env{"LC_ALL": "C.utf8", "LANG": "C"}, true, 0, false, Style{}},
		"LC_CTYPE before LANG":         {env{"LC_ALL": "", "LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "C.UTF-8"}, true, 0, false, Style{ASCII: true}},
		"a terminal of another locale": {env{"LANG": "de_DE@euro"}, false, 100, false, Style{Color: true, Live: true, Width: 100, ASCII: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lookup := func(name string) (string, bool) { value, ok := tt.env[name]; return value, ok }
			if got := DecideStyle(lookup, !tt.noTerminal, tt.width, tt.noColor); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
