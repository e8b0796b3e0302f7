package run

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/redact"
)

func TestRowsAreNamedByTheirValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 1000)
	redactor := redact.New(map[string]string{"PIN": "hunter2hunter2"})
	for name, tt := range map[string]struct {
		rows []map[string]any
		want []string
	}{
		"one value":    {[]map[string]any{{"word": "table"}, {"word": "chair"}}, []string{"word=table", "word=chair"}},
		"several":      {[]map[string]any{{"b": int64(2), "a": "x y"}, {"a": true, "b": []any{int64(1), "z"}}}, []string{"a=x y, b=2", `a=true, b=[1,"z"]`}},
		"the same":     {[]map[string]any{{"a": "x"}, {"a": "y"}, {"a": "x"}}, []string{"a=x #1", "a=y", "a=x #3"}},
		"like numbers": {[]map[string]any{{"a": "x"}, {"a": "x"}, {"a": "x #2"}}, []string{"a=x #1", "a=x #2", "a=x #2'"}},
		"lines":        {[]map[string]any{{"a": " x\n\ty "}}, []string{"a= x y"}},
		"nothing":      {[]map[string]any{{}, {"a": nil}}, []string{"#1", "a=null"}},
		"long": {[]map[string]any{{"a": long + "1", "b": "c"}, {"a": long + "2", "b": "d"}}, []string{
			"a=" + strings.Repeat("ä", 37) + "…, b=c", "a=" + strings.Repeat("ä", 37) + "…, b=d",
		}},
		"a secret":           {[]map[string]any{{"pin": "hunter2hunter2"}}, []string{"pin={{PIN}}"}},
		"a secret in a list": {[]map[string]any{{"pins": []any{"hunter2hunter2"}}}, []string{`pins=["{{PIN}}"]`}},
		"a secret at the end": {[]map[string]any{{"a": strings.Repeat("x", 30) + "hunter2hunter2"}}, []string{
			"a=" + strings.Repeat("x", 30) + "{{PIN}}",
		}},
	} {
		if got := rowNames(tt.rows, redactor); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	many := map[string]any{}
	for i := range 200 {
		many[strings.Repeat("k", i+1)] = "value"
	}
	if got := rowNames([]map[string]any{many}, redactor)[0]; utf8.RuneCountInString(got) > maxRowName+3 || !strings.HasSuffix(got, ", …") {
		t.Errorf("many: %q", got)
	}
}
