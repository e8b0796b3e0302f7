// URL, whose parser is the host's.
const parts = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
const show = (input, base) => {
  try {
    const url = new URL(input, base);
    console.log(JSON.stringify(input), base ?? "", JSON.stringify(parts.map((part) => url[part])));
  } catch ({ name, code, message }) {
    console.log(JSON.stringify(input), base ?? "", name, code, message);
  }
};

for (const input of [
  "http://example.com", "http://example.com/", "HTTP://EXAMPLE.com:80/a/../b/./c?q#h", "https://user:pa%20ss@example.com:8443/p?x=1&y=2#frag",
  "http://127.0.0.1:3000/scripting/callback", "http://[::1]:80/", "http://[2001:DB8::1]/", "http://0x7f.1/", "http://2130706433/", "http://256.1.1.1/",
  "file:///a/b c/d", "file:///C:/x", "file://host/share", "file:x", "file:///a/../../b", "mailto:a@b.c", "data:text/plain,hi there", "javascript:alert(1)",
  "about:blank", "urn:isbn:123", "custom://Host/Path?q", "custom:opaque path", "ws://x/", "ftp://x:21/", "blob:http://x/y", "http://a b/", "http://", "http:///x",
  "//x/y", "/x", "", " ", "x", "http://exa mple.com", "http://ex%41mple.com/", "http://%zz/", "http://x/%zz?%zz#%zz", "http://x/\u00e9?\u00e9#\u00e9",
  "http://m\u00fcnchen.de/", "http://xn--mnchen-3ya.de/", "http://\u65e5\u672c\u8a9e.jp", "http://x:99999/", "http://x:0/", "http://x:/", "http://x:8a/", "http://@/", "http://:@x/",
  "http://u@x/", "http://u:@x/", "http://x?q", "http://x#h", "http://x/?#", "http:\\\\x\\y", "ht\ntp://x/\ty", "  http://x/  ", "http://x/a%2fb", "http://x/a|b`c{d}", "http://x/?a'b\"c<d>",
  "http://x/\ud800", "http://\ud83d\ude00.com/", "http://x/\ud83d\ude00", "http://x.", "http://x..y/", "http://-x/", "http://x_y/", "http://1.2.3/", "http://1.2.3.4.5/", "http://[1::2::3]/", "http://[::1", "http://x]",
  "http://a%00b/", "http://x/\0", "node:fs", "c:/x", "http:x", "http:/x", "https:a@b", "non-special://x:80/a/../b", "non-special:/..//p", "http://x/;a?b;c",
]) show(input);

const base = "http://a.b/c/d;p?q#f";
for (const input of ["g", "./g", "g/", "/g", "//g", "?y", "g?y", "#s", "g#s", ";x", "", ".", "..", "../g", "../../g", "../../../g", "/./g", "g.", "./g/.", "g;x=1/../y", "http:g", "https:g", "\\g", "%2e%2e/g", "g?y/../x"]) show(input, base);
for (const [input, from] of [["x", "file:///a/b"], ["../x", "file:///C:/a/b"], ["x", "mailto:a"], ["#x", "mailto:a"], ["x", "nonsense"], ["//h/x", "file:///a"], ["C|/x", "file:///D:/y"], ["?q", "custom:a"]]) show(input, from);

const set = (href, part, ...values) => {
  for (const value of values) {
    const url = new URL(href);
    try {
      url[part] = value;
      console.log(part, JSON.stringify(value), url.href);
    } catch ({ name, code, message }) {
      console.log(part, JSON.stringify(value), name, code, message);
    }
  }
};
const href = "http://u:p@host:8080/path?query#hash";
set(href, "protocol", "https", "https:", "ftp:", "mailto", "", "1x", "ht tp");
set(href, "username", "me", "", "a:b@c", "\u00e9");
set(href, "password", "x", "", "a:b@c");
set(href, "host", "other", "other:99", "other:80", "", "a b", "x:y", "[::1]:3", "o/p");
set(href, "hostname", "other", "other:99", "", "127.1", "a?b");
set(href, "port", "80", "443", "", "0", "99999", "8a", 90);
set(href, "pathname", "x", "/x/../y", "", "a b?c#d", "//x", "\u00e9");
set(href, "search", "a=b", "?a=b", "", "?", "a#b", "a b'\u00e9");
set(href, "hash", "a", "#a", "", "#", "a b`\u00e9");
set(href, "href", "https://x", "nonsense");
set("file:///x", "host", "h", "");
set("mailto:a", "pathname", "b");
set("mailto:a", "search", "b");

const url = new URL("http://x/?a=1&b=2&a=3#h");
url.searchParams.append("c", "d e&f");
url.searchParams.delete("b");
url.searchParams.set("a", "\u00e9");
console.log(url.href, [...url.searchParams], url.searchParams.toString());
url.search = "?z=1";
console.log(url.searchParams.get("z"), url.searchParams.get("a"), String(url), JSON.stringify({ url }), URL.canParse("x"), URL.canParse("x", "http://y"));
