package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIntlMatchesNode(t *testing.T) {
	t.Parallel()
	const code = `
		const when = new Date(Date.UTC(2026, 6, 31, 15, 4, 5, 678)), utc = { timeZone: "UTC" };
		const say = (...x) => console.log(...x.map((y) => (typeof y === "string" ? y.replaceAll("\u202f", " ") : y)));
		say((1234567.891).toLocaleString(), (0.256).toLocaleString("en-US", { style: "percent" }), (12345678901234567890n).toLocaleString());
		say(when.toLocaleString("en-US", utc), when.toLocaleDateString("en-US", utc), when.toLocaleTimeString("en-US", utc));
		say(when.toLocaleDateString(undefined, { ...utc, dateStyle: "long" }), when.toLocaleString("en-US", { ...utc, month: "long" }));
		say(new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" }).format(1234.5), Intl.NumberFormat().format(NaN));
		say([1, 2.5].map(new Intl.NumberFormat("en-US", { minimumFractionDigits: 2 }).format).join(" "), new Intl.NumberFormat("en-US").format(-0));
		say(new Intl.DateTimeFormat("en-US", { timeZone: "America/New_York", timeStyle: "short" }).format(when));
		say(new Intl.DateTimeFormat("en-US", utc).formatToParts(when).map((p) => p.type).join());
		say(new Date(NaN).toLocaleString(), typeof Intl.DateTimeFormat().resolvedOptions().timeZone, Object.prototype.toString.call(Intl));
		try { new Intl.DateTimeFormat("en-US", { timeZone: "Nowhere/At_All" }) } catch (e) { say(e instanceof RangeError) }
		try { new Intl.NumberFormat("en-US", { style: "currency" }) } catch (e) { say(e instanceof TypeError) }
		try { Number.prototype.toLocaleString.call("x") } catch (e) { say(e instanceof TypeError) }`
	if diff := cmp.Diff(inNode(t, code, ""), inEngine(t, code, "")); diff != "" {
		t.Errorf("node and the engine (-node +engine):\n%s", diff)
	}
}

func TestIntlVMClosesWithEngine(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `console.log((1e6).toLocaleString()); for (;;);`)
	g.stdout.waitFor(t, "1,000,000")
	g.Kill()
	g.wait()
	if g.intl.vm == nil || !strings.HasPrefix(g.stdout.String(), "1,000,000") {
		t.Errorf("stdout %q", g.stdout)
	}
}

func TestWarnsOnceOfOtherLanguages(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `
		const when = new Date(0), kept = new Intl.NumberFormat("fr"), utc = { timeZone: "UTC" };
		console.log(when.toLocaleDateString("sv-SE", utc), (1).toLocaleString("en-GB"), when.toLocaleDateString(undefined, utc));
		console.log((1234.5).toLocaleString("de-DE"), when.toLocaleDateString("ja", utc), kept.format(1.5));
		console.log(Intl.NumberFormat.supportedLocalesOf(["de", "en", "sv-SE"]), new Intl.PluralRules("pl").select(2));`)
	g.wait()
	if got, want := g.stdout.String(), "1970-01-01 1 1/1/1970\n1,234.5 1/1/1970 1.5\n[ 'en' ] other\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	const words = "the embedded engine writes dates, numbers and lists in English (en-US), not in de-DE as asked; install bun (https://bun.sh) or node\n"
	if got := g.stderr.String(); !strings.HasSuffix(got, "Warning: "+words) || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr %q", got)
	}
}

func TestMissingPartsOfIntlFailWhenUsed(t *testing.T) {
	t.Parallel()
	out := run(t, `
		const made = { Segmenter: "segment", RelativeTimeFormat: "format", DisplayNames: "of", Locale: "language" };
		for (const [name, method] of Object.entries(made)) {
			const one = new Intl[name]("en", { type: "region" });
			try { console.log(one[method]) } catch (error) { console.log(error.message, Intl[name].supportedLocalesOf?.("en").length) }
		}
		try { Intl.supportedValuesOf("currency") } catch (error) { console.log(error.message) }`)
	for _, name := range []string{"Segmenter", "RelativeTimeFormat", "DisplayNames", "Locale", "supportedValuesOf"} {
		if want := "Intl." + name + " is not available in the embedded engine; install bun (https://bun.sh) or node"; !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
