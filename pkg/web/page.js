// The part of the web commands that runs in the page, in an isolated world of each frame: pages can neither see nor change it. It is
// evaluated once for each document, as early as the browser allows; Go calls the functions of globalThis.trailblaze.
//
// An element is named by a spec, {css} or {testId} or {id, text} or {text} or {middle} of the page, or given as itself. Nothing in here waits longer than the
// slice of time that it is told.
(() => {
  "use strict";
  if (globalThis.trailblaze) return;

  // ---------------------------------------------------------------------------------------------------------------- looking for it

  const normal = (text) => text.replace(/[\u200b\u00ad]/g, "").replace(/\s+/g, " ").trim();

  const parentOf = (el) => el.assignedSlot ?? el.parentElement ?? el.getRootNode().host ?? null;

  // within says whether el is or lies inside outer, across shadow roots.
  const within = (el, outer) => {
    for (; el; el = parentOf(el)) if (el === outer) return true;
    return false;
  };

  // closest is Element.closest across shadow roots.
  const closest = (el, selector) => {
    for (; el; el = parentOf(el)) if (el.matches(selector)) return el;
    return null;
  };

  // roots are the document and every open shadow root, in document order.
  const roots = (root = document, found = [root]) => {
    for (const el of root.querySelectorAll("*")) {
      if (!el.shadowRoot) continue;
      found.push(el.shadowRoot);
      roots(el.shadowRoot, found);
    }
    return found;
  };

  const inDocumentOrder = (a, b) => {
    const up = (el) => {
      const chain = [el];
      for (let p = el; (p = p.parentNode ?? p.host); ) chain.unshift(p);
      return chain;
    };
    const [as, bs] = [up(a), up(b)];
    let i = 0;
    while (i < as.length && as[i] === bs[i]) i++;
    if (i === as.length || i === bs.length) return as.length - bs.length;
    if (as[i].nodeType === Node.DOCUMENT_FRAGMENT_NODE) return -1; // a shadow root comes before what its host holds
    if (bs[i].nodeType === Node.DOCUMENT_FRAGMENT_NODE) return 1;
    return as[i].compareDocumentPosition(bs[i]) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
  };

  // query is querySelectorAll through open shadow roots: each root is searched, and a space in the selector also reaches into them.
  const query = (selector) => {
    document.createDocumentFragment().querySelector(selector); // throws for what is no selector
    const all = roots();
    if (all.length === 1) return [...document.querySelectorAll(selector)];
    const found = new Set(all.flatMap((root) => [...root.querySelectorAll(selector)]));
    for (const alternative of split(selector, ",")) {
      const steps = split(alternative.trim(), " ");
      if (steps.length < 2) continue;
      for (const el of all.flatMap((root) => [...root.querySelectorAll(steps.at(-1))])) if (leads(el, steps.slice(0, -1))) found.add(el);
    }
    return [...found].sort(inDocumentOrder);
  };

  // leads says whether el has ancestors that match the steps in their order.
  const leads = (el, steps) => {
    if (steps.length === 0) return true;
    for (let p = parentOf(el); p; p = parentOf(p)) if (p.matches(steps.at(-1)) && leads(p, steps.slice(0, -1))) return true;
    return false;
  };

  // split cuts a selector at commas, or at the spaces that mean "inside", but not in brackets and quotes.
  const split = (selector, at) => {
    const parts = [""];
    let depth = 0;
    for (const piece of selector.match(/\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\s*[>+~](?!=)\s*|\s+|[^]/g) ?? []) {
      if ("([".includes(piece)) depth++;
      if (")]".includes(piece)) depth--;
      const here = at === "," ? piece === "," : /^\s+$/.test(piece);
      if (here && depth === 0) parts.push("");
      else parts[parts.length - 1] += piece;
    }
    return parts;
  };

  const silent = "script, style, noscript, template, head";
  const buttons = 'input[type="submit"], input[type="button"], input[type="reset"]';

  // textOf is the text that an element holds, as it is written rather than styled.
  const textOf = (el) => {
    if (el.matches(silent)) return "";
    if (el.matches(buttons)) return normal(el.value);
    if (!el.querySelector("script, style, noscript, template")) return normal(el.textContent);
    let text = "";
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
      node.nodeType === Node.ELEMENT_NODE && node.matches(silent) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    while (walker.nextNode()) text += walker.currentNode.nodeValue ?? "";
    return normal(text);
  };

  const has = (text, part) => text.toLowerCase().includes(part.toLowerCase());

  // byText finds the smallest elements whose text matches; none does that lacks needle.
  const byText = (needle, matches, inside = roots()) => {
    const found = [];
    const visit = (el) => {
      const text = textOf(el);
      if (!has(text, needle)) return false;
      let deeper = false;
      for (const child of el.children) deeper = visit(child) || deeper;
      if (deeper || !matches(text)) return deeper;
      found.push(el);
      return true;
    };
    for (const root of inside) {
      for (const el of root === document ? [document.body ?? document.documentElement] : root.children) if (el) visit(el);
      for (const el of root.querySelectorAll(buttons)) if (matches(textOf(el))) found.push(el);
    }
    return found;
  };

  const controls = "button, a[href], input:not([type=hidden]), select, textarea, summary, [contenteditable], [role=button], [role=link], " +
    "[role=textbox], [role=combobox], [role=searchbox], [role=checkbox], [role=radio], [role=switch], [role=tab], [role=menuitem], " +
    "[role=option], [role=slider], [role=spinbutton]";

  // named finds what text stands for: labels, then text, first those that equal it; then whatever contains it, in any case. Visible
  // elements win over hidden ones. Go has looked for controls of that very name before, in the accessibility tree.
  const named = (text) => {
    const needle = normal(text);
    if (!needle) return [];
    const equal = (own) => own === needle;
    const like = (own) => has(own, needle);
    const labelled = (matches) => roots().flatMap((root) => [...root.querySelectorAll("label")])
      .filter((label) => label.control && matches(textOf(label))).map((label) => label.control);
    const hinted = () => roots().flatMap((root) => [...root.querySelectorAll(controls)])
      .filter((el) => ["aria-label", "placeholder", "title", "alt"].some((name) => like(normal(el.getAttribute(name) ?? ""))));
    const tiers = [() => labelled(equal), () => byText(needle, equal), hinted, () => labelled(like), () => byText(needle, like)];
    let hidden = [];
    for (const tier of tiers) {
      const found = tier();
      const seen = found.filter(visible);
      if (seen.length) return seen;
      if (!hidden.length) hidden = found;
    }
    return hidden;
  };

  const find = (spec) => {
    if (spec.css !== undefined) return query(spec.css);
    if (spec.testId !== undefined) return query(`[data-testid=${CSS.escape(spec.testId)}]`);
    if (spec.middle !== undefined) return [deepest(innerWidth / 2, innerHeight / 2) ?? document.documentElement];
    if (spec.id === undefined) return named(spec.text);
    const id = CSS.escape(spec.id);
    const found = query(`[id=${id}], [data-testid=${id}]`);
    return spec.text === undefined ? found : found.filter((el) => has(shown(el) ?? "", normal(spec.text)) || has(label(el), normal(spec.text)));
  };

  // --------------------------------------------------------------------------------------------------------------- what it is like

  // label is what a person may call an element; never what was typed into it.
  const label = (el) => normal(el.getAttribute("aria-label") || (el.matches("select, textarea") || el.isContentEditable ? "" : textOf(el)) ||
    ["placeholder", "title", "alt"].map((name) => el.getAttribute(name)).find(Boolean) || "");

  const describe = (el) => {
    let text = el.localName;
    if (el.id) text += "#" + el.id;
    else if (el.dataset?.testid) text += `[data-testid="${el.dataset.testid}"]`;
    text += [...el.classList].slice(0, 2).map((name) => "." + name).join("");
    if (el.name && !el.id && typeof el.name === "string") text += `[name="${el.name}"]`;
    const words = label(el);
    return words ? `${text} "${words.length > 40 ? words.slice(0, 39) + "…" : words}"` : text;
  };

  // content is what a field holds.
  const content = (el) => (el.matches("input, textarea") ? el.value : el.textContent);

  // shown is the text that a person reads in an element.
  const shown = (el) => {
    if (el.localName === "select") return normal([...el.selectedOptions].map((option) => option.label).join(", "));
    if ("value" in el && el.matches("input, textarea")) return el.type === "password" ? "" : el.value;
    return textOf(el);
  };

  const rects = (el) => {
    if (getComputedStyle(el).display !== "contents") return [...el.getClientRects()];
    const range = document.createRange();
    range.selectNodeContents(el);
    return [...range.getClientRects()];
  };

  const visible = (el) => !unseen(el);

  // unseen says why an element cannot be seen; empty when it can.
  const unseen = (el) => {
    if (el.localName === "option" && closest(el, "select")) {
      const select = closest(el, "select");
      if (select.size < 2 && !select.multiple) return el.selected ? unseen(select) : "its list is closed";
    }
    const style = getComputedStyle(el);
    if (style.visibility !== "visible") return `visibility: ${style.visibility}`;
    if (style.display !== "contents" && !el.checkVisibility()) {
      for (let p = el; p; p = parentOf(p)) {
        if (getComputedStyle(p).display === "none") return p === el ? "display: none" : `display: none on ${describe(p)}`;
      }
      return "it is not rendered";
    }
    return rects(el).some((r) => r.width > 0 && r.height > 0) ? "" : "it has no size";
  };

  // controlOf is what a label stands for, else the element itself.
  const controlOf = (el, selector) => {
    if (el.matches(selector)) return el;
    const control = closest(el, "label")?.control;
    return control?.matches(selector) ? control : el;
  };

  const disabled = (el) => {
    const own = closest(el, "button, input, select, textarea, option, optgroup, a, [role]") ?? el;
    if (own.matches(":disabled")) return own.disabled ? "it is disabled" : "it is in a disabled fieldset";
    const aria = closest(el, "[aria-disabled]");
    return aria?.getAttribute("aria-disabled") === "true" ? (aria === el ? "it is aria-disabled" : `${describe(aria)} is aria-disabled`) : "";
  };

  // pointIn is the middle of what the viewport shows of an element; null when that is nothing.
  const pointIn = (el) => {
    let best = null;
    for (const r of rects(el)) {
      const [left, right] = [Math.max(r.left, 0), Math.min(r.right, innerWidth)];
      const [top, bottom] = [Math.max(r.top, 0), Math.min(r.bottom, innerHeight)];
      const area = (right - left) * (bottom - top);
      if (right - left >= 1 && bottom - top >= 1 && (!best || area > best.area)) best = { area, x: (left + right) / 2, y: (top + bottom) / 2 };
    }
    return best;
  };

  // deepest is the element at a point, inside open shadow roots and the closed ones that lead to el.
  const deepest = (x, y, el) => {
    const closed = new Map();
    for (let root = el?.getRootNode(); root?.host; root = root.host.getRootNode()) closed.set(root.host, root);
    let hit = document.elementFromPoint(x, y);
    for (;;) {
      const inner = (hit?.shadowRoot ?? closed.get(hit))?.elementFromPoint(x, y);
      if (!inner || inner === hit) return hit;
      hit = inner;
    }
  };

  // receives says whether an event at hit is an event of el: inside it, inside the button or link that el is part of, or on a label of it.
  const receives = (hit, el) => within(hit, closest(el, "button, a, [role=button], [role=link]") ?? el) || within(hit, el) ||
    [...(el.labels ?? [])].some((label) => within(hit, label));

  const covered = (el, point) => {
    const hit = deepest(point.x, point.y, el);
    if (hit && receives(hit, el)) return "";
    const inert = closest(el, "[inert]");
    if (inert) return `${describe(inert)} is inert`;
    if (getComputedStyle(el).pointerEvents === "none") return "its style is pointer-events: none";
    return hit ? `${describe(hit)} covers it` : "nothing there receives events";
  };

  // ------------------------------------------------------------------------------------------------------------------------ waiting

  // frame is the next animation frame, or a while in a page that draws none, such as one in the background.
  const frame = () => new Promise((done) => {
    const timer = setTimeout(done, 200);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      done();
    });
  });

  const sameBox = (a, b) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

  // The browser's accessibility tree answers with the next frame. Where controls were before it need not be waited for once more.
  let sampled = null;

  const root = () => {
    const sample = { boxes: new Map(), passed: false };
    for (const el of [...document.querySelectorAll(controls)].slice(0, 300)) sample.boxes.set(el, el.getBoundingClientRect());
    requestAnimationFrame(() => (sample.passed = true));
    sampled = sample;
    return document;
  };

  // alignments are tried in turn for an element that something covers: it may be a bar at an edge of the page.
  const alignments = ["nearest", "center", "end", "start"];

  const scrollTo = (el, block) => el.scrollIntoView({ block, inline: block === "nearest" ? block : "center", behavior: "instant" });

  // Judges say whether an element is ready. They answer {} when it is, else {why} and the conditions that it has met, best with
  // settle: true when the next frame can tell more. memo is theirs, for as long as the element stays the same.
  const ready = (el, o, memo) => {
    const hidden = unseen(el);
    if (hidden) return { why: `it is not visible: ${hidden}`, met: "attached" };
    if (window !== top && memo.scrolls === undefined) scrollTo(el, alignments[o.round % 4]); // this scrolls the pages around it, too
    let point = pointIn(el);
    let over = point ? covered(el, point) : "it is out of view";
    memo.scrolls ??= 0;
    if (over && memo.tries >= memo.scrolls * 8) {
      scrollTo(el, point || memo.scrolls ? alignments[memo.scrolls % 4] : "center");
      memo.scrolls++;
      point = pointIn(el);
      over = point ? covered(el, point) : "it is out of view, and does not scroll into it";
    }
    const box = el.getBoundingClientRect();
    const stable = memo.box && sameBox(memo.box, box);
    const settle = !memo.box;
    memo.box = box;
    if (!stable) return { why: "it moves", met: "attached, visible", settle };
    const off = o.enabled ? disabled(el) : "";
    if (off) return { why: off, met: "attached, visible, stable" };
    if (over) return { why: over, met: "attached, visible, stable, enabled" };
    return { x: point.x, y: point.y };
  };

  const judges = {
    click: (el, o, memo) => ready(el, { ...o, enabled: true }, memo),
    hover: (el, o, memo) => ready(el, o, memo),

    // focus prepares a field for text: with o.clear everything in it is selected, without, the caret is at its end.
    focus: (given, o) => {
      const control = controlOf(given, "input, textarea, [contenteditable]");
      const el = (control.isContentEditable && closest(control, "[contenteditable]")) || control;
      const hidden = unseen(el);
      if (hidden) return { why: `it is not visible: ${hidden}`, met: "attached" };
      const off = disabled(el);
      if (off) return { why: off, met: "attached, visible" };
      if (!takesText(el)) return { why: `it takes no text: ${describe(el)}`, met: "attached, visible, enabled" };
      if (el.readOnly || el.ariaReadOnly === "true") return { why: "it is read-only", met: "attached, visible, enabled" };
      const had = active() === el;
      if (!had) {
        el.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
        el.focus({ preventScroll: true });
      }
      if (!within(active(), el)) return { why: "it does not take the focus", met: "attached, visible, enabled" };
      if (o.clear && !fits(el, o.text)) return { why: `it does not take ${o.secret ? "that" : `"${o.text}"`} as a ${el.type}`, met: "attached, visible, enabled" };
      if (o.clear && native.has(el.type)) return { what: describe(el), apply: () => setNative(el, o.text) };
      if (o.clear || !had) select(el, o.clear);
      return { what: describe(el) };
    },

    // select chooses options of a drop-down list, by value or by what they say.
    select: (given, o) => {
      const el = controlOf(given, "select");
      if (el.localName !== "select") return { why: `it is no <select>, but ${describe(el)}`, met: "attached" };
      const hidden = unseen(el);
      if (hidden) return { why: `it is not visible: ${hidden}`, met: "attached" };
      const off = disabled(el);
      if (off) return { why: off, met: "attached, visible" };
      if (!el.multiple && o.values.length > 1) return { why: "it takes one value", met: "attached, visible, enabled" };
      const chosen = new Set();
      for (const value of o.values) {
        const option = [...el.options].find((e) => e.value === value) ?? [...el.options].find((e) => normal(e.label) === normal(value)) ??
          [...el.options].find((e) => textOf(e) === normal(value));
        if (!option) {
          const known = [...el.options].slice(0, 12).map((e) => `"${normal(e.label)}"`);
          return { why: `it has no option "${value}", but ${known.join(", ") || "none at all"}`, met: "attached, visible, enabled" };
        }
        if (option.matches(":disabled")) return { why: `its option "${value}" is disabled`, met: "attached, visible, enabled" };
        chosen.add(option);
      }
      return { what: describe(el), apply: () => choose(el, chosen) };
    },

    // scroll moves what is inside an element, or inside the nearest around it that scrolls that way.
    scroll: (el, o) => scrollIn(el, o),

    exists: () => ({}),
    read: (el) => ({ text: shown(el) }),

    visible: (el) => {
      const hidden = unseen(el);
      return hidden ? { why: hidden } : {};
    },

    // text, value and attribute hold an element against what is expected; is is what it has.
    text: (el, o) => {
      const is = shown(el);
      const styled = normal(el.innerText ?? "");
      return [is, normal(is), styled].some((text) => text === o.expected || text === normal(o.expected)) ? {} : { why: "its text", is };
    },
    value: (given, o) => {
      const el = controlOf(given, "input, textarea, select");
      if (!("value" in el) && !el.isContentEditable) return { why: `it has no value: ${describe(el)}` };
      const is = el.multiple && el.selectedOptions ? [...el.selectedOptions].map((e) => e.value).join(", ") : String(el.value ?? textOf(el));
      return is === o.expected ? {} : { why: "its value", is: el.type === "password" ? "[secret]" : is };
    },
    attribute: (el, o) => {
      const is = el.getAttribute(o.attribute);
      if (is === null) return { why: `it has no attribute "${o.attribute}", but ${el.getAttributeNames().join(", ") || "none"}` };
      return is === o.expected ? {} : { why: `its attribute "${o.attribute}"`, is };
    },

    // list wants every item to be seen inside the element.
    list: (el, o) => {
      const hidden = unseen(el);
      if (hidden) return { why: `it is not visible: ${hidden}` };
      const inside = [{ children: [el], querySelectorAll: (selector) => el.querySelectorAll(selector) }];
      const missing = o.items.filter((item) => !byText(normal(item), (text) => has(text, normal(item)), inside).some(visible));
      return missing.length ? { why: `it shows no ${missing.map((item) => `"${item}"`).join(", ")}` } : {};
    },
  };

  // attempt finds an element anew in each animation frame until the judge is content or the slice of time is over, and arms the guard for
  // the event that follows. Without an element of that spec it comes back at once when o.alone is false: other frames may have it.
  const attempt = async (kind, spec, element, o) => {
    const end = performance.now() + o.slice;
    let memo = {};
    const sample = sampled;
    sampled = null;
    const known = (el) => ({ el, box: sample?.passed ? sample.boxes.get(el) : undefined });
    for (let tries = 1; ; tries++) {
      const began = performance.now();
      const sight = look(kind, spec, element, o, memo, tries, known);
      memo = sight.memo;
      delete sight.memo;
      const now = performance.now();
      if (sight.ok || sight.gone || (now >= end && !sight.settle) || (!sight.count && !o.alone)) return { tries, ...sight };
      do await frame(); while (!sight.settle && performance.now() < now + 4 * (now - began)); // a page that is slow to search gets time to work
    }
  };

  const look = (kind, spec, element, o, memo, tries, known) => {
    const found = element ? (element.isConnected ? [element] : []) : find(spec);
    const el = found[o.nth ?? 0];
    const sight = { count: found.length, memo, gone: Boolean(element) && !el };
    if (!el) return sight;
    if (o.only && o.nth === undefined && found.length > 1) return { ...sight, few: found.slice(0, 4).map(describe) };
    if (memo.el !== el) sight.memo = known(el);
    sight.memo.tries = tries;
    const { apply, ...judged } = judges[kind](el, o, sight.memo);
    pending = apply && { el, apply };
    Object.assign(sight, judged, { apply: Boolean(apply), ok: judged.why === undefined });
    if (sight.ok) arm(kind, el);
    if (!sight.settle) sight.what ??= describe(el);
    return sight;
  };

  // pending is what is to be done with an element without an event of the browser's own, once.
  let pending = null;

  const apply = () => {
    const { el, apply } = pending ?? {};
    pending = null;
    return el?.isConnected ? apply() : { gone: true };
  };

  // ------------------------------------------------------------------------------------------------------------------------- fields

  const native = new Set(["color", "date", "time", "datetime-local", "month", "range", "week"]);
  const textless = new Set(["button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden"]);

  const takesText = (el) => el.localName === "textarea" || (el.localName === "input" && !textless.has(el.type)) || el.isContentEditable;

  const active = () => {
    let el = document.activeElement;
    while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement;
    return el;
  };

  const select = (el, all) => {
    if (el.select) {
      el.select();
      if (!all) getSelection().modify("move", "forward", "documentboundary");
      return;
    }
    const selection = getSelection();
    selection.selectAllChildren(el);
    if (!all) selection.collapseToEnd();
  };

  // fits says whether a field of that type would keep a text.
  const fits = (el, text) => {
    if (!text || !(native.has(el.type) || el.type === "number")) return true;
    const probe = document.createElement("input");
    for (const name of ["type", "min", "max", "step"]) if (el.hasAttribute(name)) probe.setAttribute(name, el.getAttribute(name));
    probe.value = text;
    return el.type === "number" ? probe.value !== "" : probe.value.toLowerCase() === text.trim().toLowerCase();
  };

  const tell = (el) => {
    for (const type of ["input", "change"]) el.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
    return { text: shown(el) };
  };

  // setNative fills a field whose parts the browser draws itself: there is nothing to type into.
  const setNative = (el, text) => {
    el.value = text;
    return tell(el);
  };

  const choose = (el, options) => {
    for (const option of el.options) option.selected = options.has(option);
    return tell(el);
  };

  const scrollIn = (el, { dx, dy }) => {
    const moves = (e) => {
      const root = e === document.scrollingElement;
      const overflow = getComputedStyle(e)[dx ? "overflowX" : "overflowY"];
      const room = dx ? e.scrollWidth > e.clientWidth : e.scrollHeight > e.clientHeight;
      return room && (root ? overflow !== "hidden" : overflow === "auto" || overflow === "scroll");
    };
    let box = el;
    while (box && !moves(box)) box = parentOf(box);
    box ??= document.scrollingElement ?? document.documentElement;
    const before = [box.scrollLeft, box.scrollTop];
    box.scrollBy({ left: dx, top: dy, behavior: "instant" });
    const [at, moved, end] = dx
      ? [box.scrollLeft, box.scrollLeft - before[0], box.scrollWidth - box.clientWidth]
      : [box.scrollTop, box.scrollTop - before[1], box.scrollHeight - box.clientHeight];
    return { what: box === document.scrollingElement ? "the page" : describe(box), moved, at, end };
  };

  // -------------------------------------------------------------------------------------------------------------------------- guard

  // Between the moment an element was found ready and the event, the page may put another in its place. The guard lets no event reach
  // an element other than the one that was found: what is blocked, the page has not heard, and may be tried again.
  let armed = null;

  // An event comes within a moment, or somebody else has made it. What happens to a document in its first moment was meant for the one
  // before: a navigation came between.
  const moment = 2000;
  const fresh = () => {
    armed = { types: ["pointerdown", "mousedown", "beforeinput"], el: null, passed: false, blocked: "", until: performance.now() + moment / 4, fresh: true };
  };

  const first = { click: ["pointerdown", "mousedown"], focus: ["keydown", "beforeinput"], frame: ["pointerdown", "mousedown"] };
  const rest = ["pointerup", "mouseup", "click", "auxclick", "keypress", "keyup"];

  const arm = (kind, el) => {
    armed = null;
    if (!first[kind]) return;
    armed = { types: first[kind], el, before: el && content(el), passed: false, blocked: "", input: 0, until: performance.now() + moment };
    watch();
  };

  // hosts are those of closed shadow roots that el is in: listeners outside hear of nothing deeper.
  const hosts = (el) => {
    const found = [];
    for (let root = el.getRootNode(); root.host; root = root.host.getRootNode()) if (root.mode !== "open") found.push(root.host);
    return found;
  };

  const guard = (event) => {
    if (!armed || !event.isTrusted || armed.passed) return;
    if (!armed.blocked && (event.timeStamp > armed.until || (!armed.el && event.type === "keydown"))) {
      armed = null;
      return;
    }
    const hit = event.composedPath()[0];
    if (!armed.blocked && armed.types.includes(event.type)) {
      const at = hit.nodeType === Node.ELEMENT_NODE ? hit : document.documentElement;
      if (armed.el && (receives(at, armed.el) || hosts(armed.el).includes(at))) {
        armed.passed = true;
        return;
      }
      armed.blocked = describe(at);
    }
    if (!armed.blocked) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  const count = () => {
    if (armed) armed.input++;
  };

  // watch may be called again and again: document.open takes listeners away.
  const watch = () => {
    for (const type of new Set([...Object.values(first).flat(), ...rest])) addEventListener(type, guard, { capture: true, passive: false });
    addEventListener("input", count, true);
  };
  fresh();
  watch();
  addEventListener("pageshow", (event) => event.persisted && fresh());

  // verdict says what became of the event: {passed} when the element got it, {blocked} with the one that would have, neither when
  // nothing arrived in this document. After a text was entered, {took} says whether the field has it; changed, whether it has anything
  // else than before; shows, what it shows now. It is asked once.
  const verdict = (text, clear) => {
    const { passed, blocked, el, before, input } = armed ?? { passed: false, blocked: "" };
    const other = !armed || armed.fresh; // nobody armed this document: it took the place of the one that was meant
    armed = null;
    if (other) return { other, blocked };
    if (text === undefined) return { passed, blocked };
    const now = el?.isConnected ? content(el) : null;
    return { passed, blocked, took: now === null || now === (clear ? text : before + text), changed: input > 0 || now !== before, shows: now && shown(el) };
  };

  // through is where a point of an inner frame lies in this document. {why} when the frame moves, or something covers it there.
  const through = async (owner, x, y) => {
    const before = owner.getBoundingClientRect();
    await frame();
    const r = owner.getBoundingClientRect();
    if (!sameBox(before, r)) return { why: "its frame moves" };
    const style = getComputedStyle(owner);
    const point = {
      x: r.left + (owner.clientLeft + parseFloat(style.paddingLeft) + x) * (r.width / owner.offsetWidth),
      y: r.top + (owner.clientTop + parseFloat(style.paddingTop) + y) * (r.height / owner.offsetHeight),
    };
    if (point.x < 0 || point.y < 0 || point.x >= innerWidth || point.y >= innerHeight) return { why: "its frame is out of view" };
    const over = covered(owner, point);
    if (over) return { why: over };
    arm("frame", null);
    return point;
  };

  // ---------------------------------------------------------------------------------------------------------------- reading the page

  // seen waits until a text can be seen, part of a longer one or not, in any case.
  const seen = async (text, slice) => {
    const end = performance.now() + slice;
    const needle = normal(text);
    for (;;) {
      const began = performance.now();
      const found = byText(needle, (own) => has(own, needle));
      const el = found.find(visible);
      if (el) return { ok: true, count: found.length, what: describe(el) };
      const now = performance.now();
      if (now >= end) return { count: found.length, why: found.length ? `it is not visible: ${unseen(found[0])}` : "", what: found[0] && describe(found[0]) };
      do await frame(); while (performance.now() < now + 4 * (now - began));
    }
  };

  // words are what somebody who misspelt a name may have meant: test ids, ids, or short texts that can be seen.
  const words = (kind) => {
    const found = new Set();
    const take = (text) => text && text.length <= 80 && found.size < 300 && found.add(text);
    for (const root of roots()) {
      if (kind === "testId" || kind === "id") for (const el of root.querySelectorAll("[data-testid]")) take(el.dataset.testid);
      if (kind === "id" || kind === "css") for (const el of root.querySelectorAll("[id]")) take(kind === "css" ? "#" + el.id : el.id);
      if (kind !== "text") continue;
      for (const el of root.querySelectorAll(controls)) if (found.size < 150 && visible(el)) take(label(el));
      for (const el of root.querySelectorAll("*")) {
        const written = found.size < 300 && [...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && normal(node.nodeValue));
        if (written && visible(el)) take(textOf(el));
      }
    }
    return [...found];
  };

  // pause ends with the next change of the document, at the earliest in the next frame, at the latest after the slice.
  const pause = (slice) => new Promise((done) => {
    const observer = new MutationObserver(() => frame().then(finish));
    const timer = setTimeout(() => finish(), slice);
    const finish = () => {
      observer.disconnect();
      clearTimeout(timer);
      done();
    };
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });

  // layOut has the browser lay out what it skips inside an element that is far from view.
  const layOut = (el) => {
    const range = document.createRange();
    range.selectNodeContents(el);
    range.getBoundingClientRect();
  };

  // mixed are the check boxes that a script has made indeterminate.
  const mixed = () => roots().flatMap((root) => [...root.querySelectorAll("input")]).filter((el) => el.indeterminate);

  const focused = () => {
    const el = active();
    const frames = el?.matches("iframe, frame");
    return { here: document.hasFocus(), inner: Boolean(frames), text: Boolean(el && !frames && takesText(el) && !el.readOnly && !el.matches(":disabled")), what: el ? describe(el) : "" };
  };

  globalThis.trailblaze = {
    attempt, apply, verdict, through, seen, words, pause, focused, layOut, mixed,
    root,
    first: (spec) => find(spec)[0] ?? null,
    focusedElement: active,
    page: () => ({ url: location.href, title: document.title }),
  };
})();
