//go:build unix

package e2e_test

import (
	"slices"
	"testing"
)

// TestInitFromWorkspace writes a project beside a workspace, which offers the same tools but for those it has lost.
func TestInitFromWorkspace(t *testing.T) {
	t.Parallel()
	p := newBakery(t, nil)
	offered := func(platform string) (names []string) {
		t.Helper()
		tools, _ := p.run("toolbox", "list", "--platform", platform, "--json").object(t)["tools"].([]any)
		for _, tool := range tools {
			name, _ := tool.(map[string]any)["name"].(string)
			names = append(names, name)
		}
		return names
	}
	lost := []string{"bakery_android_start", "bakery_fillBasket", "bakery_open", "bakery_sayHello", "bakery_search", "bakery_toBasket", "orders_report"}
	before := map[string][]string{}
	for _, platform := range []string{"web", "android", "ios"} {
		before[platform] = slices.DeleteFunc(offered(platform), func(name string) bool { return slices.Contains(lost, name) })
	}
	r := p.run("init", "--from", "trails/search")
	r.want(t, 0, "wrote trailblaze.yaml", "wrote trailblaze-config/targets/orders.yaml")
	r.wantErr(t, 0, "7 tools cannot be carried over", "bakery_sayHello, bakery_search, bakery_toBasket, orders_report",
		`target "bakery" uses the driver android-ondevice-instrumentation on android: name it with driver: or --driver`)
	for platform, want := range before {
		got := offered(platform)
		slices.Sort(got)
		slices.Sort(want)
		if len(got) < 8 {
			t.Errorf("%s offers %q only", platform, got)
		}
		same(t, platform, want, got)
	}
	p.run("init", "--from", ".").wantErr(t, 3, "is a project of trailblaze already")
	p.run("init", "--from", ".", "--agent", "claude").wantErr(t, 3, "from", "agent")
	p.run("init", "elsewhere", "--from", ".").wantErr(t, 3, "takes no folder to write to, got elsewhere")
}
