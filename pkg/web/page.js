// The part of the web commands that runs in the page, in an isolated world of each frame, where pages can neither see
// nor change it. It is evaluated in each document, as early as the browser allows. Go calls the functions of
// globalThis.trailblaze. A world may have been used by a document before: then everything here begins anew.
//
// An element is given by a spec, which is one of {css}, {testId}, {id, text}, {text}, {focused} and {middle}, or as
// itself. No function waits for longer than the time that it is given.
(() => {
  "use strict";
  if (globalThis.trailblaze?.document === document) return;
  const born = document;

  // --------------------------------------------------------------------------------------------------- finding elements

  const normalize = (text, spaces = /\s+/g) =>
    text
      .normalize("NFC")
      .replace(/[\u200b\u00ad\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
      .replace(spaces, " ")
      .trim();

  const parentOf = (el) => el.assignedSlot ?? el.parentElement ?? el.getRootNode().host ?? null;

  // isInside reports whether el is outer or inside it, across shadow roots.
  const isInside = (el, outer) => {
    for (; el; el = parentOf(el)) if (el === outer) return true;
    return false;
  };

  // closest is Element.closest across shadow roots.
  const closest = (el, selector) => {
    for (; el; el = parentOf(el)) if (el.matches(selector)) return el;
    return null;
  };

  // rows selects what people know by the texts in it.
  const rows = "tr, li, article, [role=row], [role=listitem], [role=treeitem], [role=article]";

  // roots are the document and every open shadow root, in document order.
  const roots = (root = document, found = [root]) => {
    for (const el of root.querySelectorAll("*")) {
      if (!el.shadowRoot) continue;
      found.push(el.shadowRoot);
      roots(el.shadowRoot, found);
    }
    return found;
  };

  const compareDocumentOrder = (a, b) => {
    const ancestors = (el) => {
      const chain = [el];
      for (let p = el; (p = p.parentNode ?? p.host);) chain.unshift(p);
      return chain;
    };
    const [as, bs] = [ancestors(a), ancestors(b)];
    let i = 0;
    while (i < as.length && as[i] === bs[i]) i++;
    if (i === as.length || i === bs.length) return as.length - bs.length;
    if (as[i].nodeType === Node.DOCUMENT_FRAGMENT_NODE) return -1; // a shadow root comes first
    if (bs[i].nodeType === Node.DOCUMENT_FRAGMENT_NODE) return 1;
    return as[i].compareDocumentPosition(bs[i]) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
  };

  // queryAll is querySelectorAll through open shadow roots: each root is searched, and a space in the selector also
  // reaches into them.
  const queryAll = (selector) => {
    document.createDocumentFragment().querySelector(selector); // throws when the selector is invalid
    const all = roots();
    if (all.length === 1) return [...document.querySelectorAll(selector)];
    const found = new Set(all.flatMap((root) => [...root.querySelectorAll(selector)]));
    for (const alternative of splitSelector(selector, ",")) {
      const steps = splitSelector(alternative.trim(), " ");
      if (steps.length < 2) continue;
      const last = all.flatMap((root) => [...root.querySelectorAll(steps.at(-1))]);
      for (const el of last) if (hasAncestors(el, steps.slice(0, -1))) found.add(el);
    }
    return [...found].sort(compareDocumentOrder);
  };

  // hasAncestors reports whether el has ancestors that match the selectors in their order.
  const hasAncestors = (el, selectors) => {
    if (selectors.length === 0) return true;
    for (let p = parentOf(el); p; p = parentOf(p)) {
      if (p.matches(selectors.at(-1)) && hasAncestors(p, selectors.slice(0, -1))) return true;
    }
    return false;
  };

  // splitSelector splits a selector at commas or at descendant combinators, but not in brackets and quotes.
  const splitSelector = (selector, at) => {
    const parts = [""];
    let depth = 0;
    for (const piece of selector.match(/\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\s*[>+~](?!=)\s*|\s+|[^]/g) ?? []) {
      if ("([".includes(piece)) depth++;
      if (")]".includes(piece)) depth--;
      const splits = at === "," ? piece === "," : /^\s+$/.test(piece);
      if (splits && depth === 0) parts.push("");
      else parts[parts.length - 1] += piece;
    }
    return parts;
  };

  const notRendered = "script, style, noscript, template, head";
  const buttonInputs = 'input[type="submit"], input[type="button"], input[type="reset"]';

  let remembered = null;

  // remembering runs f, which does not change the page, so that the texts of each element are read once.
  const remembering = (f) => {
    remembered = { text: new Map(), shown: new Map() };
    try {
      return f();
    } finally {
      remembered = null;
    }
  };

  // recall returns what read returns for an element, from memory within remembering.
  const recall = (kind, el, read) => {
    const known = remembered?.[kind];
    if (!known) return read(el);
    if (!known.has(el)) known.set(el, read(el));
    return known.get(el);
  };

  // textOf is the text of an element as it is written, not as it is styled.
  const textOf = (el) => recall("text", el, readText);

  const readText = (el) => {
    if (el.matches(notRendered)) return "";
    if (el.matches(buttonInputs)) return normalize(el.value);
    if (!el.querySelector("script, style, noscript, template")) return normalize(el.textContent);
    let text = "";
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
      node.nodeType === Node.ELEMENT_NODE && node.matches(notRendered)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
    );
    while (walker.nextNode()) text += walker.currentNode.nodeValue ?? "";
    return normalize(text);
  };

  // contentOf are the nodes that the browser draws in an element: those of its open shadow root, or what is in a slot.
  const contentOf = (el) => {
    const assigned = el.localName === "slot" ? el.assignedNodes() : [];
    return assigned.length ? assigned : (el.shadowRoot ?? el).childNodes;
  };

  // drawnInside are the texts and elements inside an element that may be drawn, in this order.
  const drawnInside = (el, found = []) => {
    for (const node of contentOf(el)) {
      const isElement = node.nodeType === Node.ELEMENT_NODE;
      if (isElement ? node.matches(notRendered) : node.nodeType !== Node.TEXT_NODE) continue;
      found.push(node);
      if (isElement) drawnInside(node, found);
    }
    return found;
  };

  const includesIgnoringCase = (text, part) => text.toLowerCase().includes(part.toLowerCase());

  // drawn are the boxes in which the browser draws a text node of a visible element; null if it does not. It does not draw
  // the default text of a text area that has another, the content of a shadow host that is in no slot, nor what replaces
  // a frame.
  const drawn = (node, parent) => {
    if (parent.localName === "option") return [];
    if (parent.localName === "textarea") return parent.value === parent.defaultValue ? [] : null;
    const range = document.createRange();
    range.selectNode(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    return boxes.length ? boxes : null;
  };

  // touches reports whether a person sees no space between two texts with these boxes.
  const touches = (before, after) =>
    before && after && Math.abs(after.left - before.right) < 1 && before.top < after.bottom && after.top < before.bottom;

  // shownTexts are the part of an element's text that is visible, if the element itself is: as it is written, and with a
  // space where a person sees one, at line breaks and between blocks and cells.
  const shownTexts = (el) => recall("shown", el, readShownTexts);

  const readShownTexts = (el, spaces) => {
    if (el.matches(buttonInputs)) return Array(2).fill(normalize(el.value, spaces));
    const shown = new Map([[el, true]]);
    let [text, spaced, block, last] = ["", "", el, null];
    for (const node of drawnInside(el)) {
      if (node.nodeType !== Node.TEXT_NODE || !node.nodeValue.trim()) {
        text += node.nodeValue ?? "";
        spaced += node.nodeValue ?? (node.localName === "br" ? " " : "");
        continue;
      }
      const parent = node.parentElement ?? node.getRootNode().host;
      if (!shown.has(parent)) shown.set(parent, isVisible(parent));
      const boxes = shown.get(parent) && drawn(node, parent);
      if (!boxes) continue;
      const before = block;
      block = parent === el ? el : blockOf(node.assignedSlot ?? parent, el);
      if (block !== before && !touches(last, boxes[0])) spaced += " ";
      text += node.nodeValue;
      spaced += node.nodeValue;
      last = boxes.at(-1);
    }
    const normal = normalize(text, spaces);
    return [normal, spaced === text ? normal : normalize(spaced, spaces)];
  };

  const shownText = (el) => shownTexts(el)[0];
  const spacedText = (el) => shownTexts(el)[1];

  // blockOf is the innermost block or cell inside of el that a node of it is in, else el.
  const blockOf = (node, el) => {
    let block = node;
    while (block !== el && /^(inline|contents|ruby)/.test(getComputedStyle(block).display)) block = parentOf(block);
    return block;
  };

  // textWith is the visible text of an element in which needle is, as a person sees it if it is in both.
  const textWith = (el, needle) => {
    const [shown, spaced] = shownTexts(el);
    return includesIgnoringCase(spaced, needle) ? spaced : shown;
  };

  // isWholeText reports whether the visible text of an element is needle, as it is written or as it is styled.
  const isWholeText = (el, needle) => {
    const [shown, spaced] = shownTexts(el);
    if (shown === needle || spaced === needle) return true;
    const isSame = (text) => text.toLowerCase() === needle.toLowerCase();
    return (isSame(textOf(el)) || isSame(spaced)) && normalize(el.innerText ?? "") === needle;
  };

  // withoutSpaces is what two normalized texts have in common that differ only in white space and case.
  const withoutSpaces = (text) => text.replace(/ /g, "").toLowerCase();

  // mayInclude returns a check for texts: those that it refuses do not include needle, wherever a person sees spaces.
  const mayInclude = (needle) => {
    const bare = needle.includes(" ") && withoutSpaces(needle);
    return (text) => includesIgnoringCase(text, needle) || (bare && withoutSpaces(text).includes(bare));
  };

  // visibleTexts returns the innermost elements that show a text: with query.exact as their whole text, with query.text
  // as part of another in any case, with query.pattern as a match of it. White space that a person sees between lines,
  // blocks and cells may be left out. all has those whose text matches but is hidden, too.
  const visibleTexts = (query, inside) => {
    const rendered = (el) => normalize(el.innerText ?? "");
    const shows = (el) => isVisible(el) && hasShown(el, query);
    const search = (mayMatch, isMatch) => {
      const all = elementsByText(mayMatch, isMatch, inside);
      const visible = all.filter(shows);
      if (visible.length === all.length) return { all, visible };
      // What is hidden may be in an element that shows the text, too.
      return { all, visible: elementsByText(mayMatch, (own, el) => isMatch(own, el) && shows(el), inside) };
    };
    if (query.pattern !== undefined) {
      const pattern = patternOf(query);
      const matches = (text) => pattern.test(text);
      const found = search(() => true, matches);
      if (found.visible.length) return found;
      const spaced = search(
        () => true,
        (own, el) => el.firstElementChild && matches(rendered(el)),
      );
      return spaced.visible.length ? spaced : found;
    }
    const needle = normalize(query.text);
    const limit = 4 * needle.length + 1000; // an element with much more text does not have it as its whole text
    const includes = (own, el) =>
      includesIgnoringCase(own, needle) || (el.firstElementChild && includesIgnoringCase(rendered(el), needle));
    return search(mayInclude(needle), (own, el) =>
      query.exact ? own.length < limit && isWholeText(el, needle) : includes(own, el),
    );
  };

  // hasShown reports whether the visible text of an element is what a query looks for, see visibleTexts.
  const hasShown = (el, query) => {
    if (query.pattern !== undefined) return shownTexts(el).some((text) => compares(text, query));
    const needle = normalize(query.text);
    return query.exact ? isWholeText(el, needle) : includesIgnoringCase(textWith(el, needle), needle);
  };

  // textsWithin are the elements inside of outer that show a text: also in shadow roots and slots. It is outer if only all
  // that outer shows has the text, as when it begins in one shadow root and ends in another one.
  const textsWithin = (outer, query) => {
    const places = placesIn(outer);
    const { visible } = visibleTexts(query, places);
    return visible.length || places.length === 1 || !hasShown(outer, query) ? visible : [outer];
  };

  // placesIn are what visibleTexts searches for what is inside an element: it, shadow roots, and what is in slots.
  const placesIn = (el) => {
    const place = { children: [el], querySelectorAll: (selector) => el.querySelectorAll(selector) };
    const inSlot = (slot) => [slot, ...slot.assignedElements({ flatten: true }).flatMap(placesIn)];
    const slots = [...el.querySelectorAll("slot")];
    return [...roots(place), ...(el.shadowRoot ? roots(el.shadowRoot) : []), ...slots.flatMap(inSlot)];
  };

  // elementsByText returns the innermost elements whose text matches. Neither an element for whose text mayMatch is false
  // nor one inside it matches.
  const elementsByText = (mayMatch, matches, inside = roots()) => {
    const found = [];
    const visit = (el) => {
      const text = textOf(el);
      if (!mayMatch(text)) return false;
      let inner = false;
      for (let child = el.firstElementChild; child; child = child.nextElementSibling) inner = visit(child) || inner;
      if (inner || !matches(text, el)) return inner;
      found.push(el);
      return true;
    };
    for (const root of inside) {
      for (const el of root === document ? [document.body ?? document.documentElement] : root.children)
        if (el) visit(el);
      for (const el of root.querySelectorAll(buttonInputs)) {
        const text = textOf(el);
        if (mayMatch(text) && matches(text, el)) found.push(el);
      }
    }
    return [...new Set(found)];
  };

  const testIdAttribute = TEST_ID_ATTRIBUTE; // replaced by the one of the project

  const controls = CONTROLS; // replaced by a selector from the table of roles

  const allControls = () => roots().flatMap((root) => [...root.querySelectorAll(controls)]);

  // elementsByName returns what a text may mean: labels, texts and attributes, first those that equal it, then those
  // that equal it in any case, then those that include it in any case. Visible elements win over hidden ones. Before
  // this, Go has looked for controls with exactly this name in the accessibility tree.
  const elementsByName = (text) => {
    const needle = normalize(text);
    if (!needle) return [];
    const equal = (own) => own === needle;
    const equalIgnoringCase = (own) => own.toLowerCase() === needle.toLowerCase();
    const includes = (own) => includesIgnoringCase(own, needle);
    const labelled = (matches) =>
      roots()
        .flatMap((root) => [...root.querySelectorAll("label")])
        .filter((label) => label.control && matches(textOf(label)))
        .map((label) => label.control);
    const byAttribute = (matches) => allControls().filter((el) => attributeNames(el).some(matches));
    const tiers = [
      () => labelled(equal),
      () => elementsByText(includes, equal),
      () => labelled(equalIgnoringCase),
      () => elementsByText(includes, equalIgnoringCase),
      () => byAttribute(equalIgnoringCase),
      () => byAttribute(includes),
      () => labelled(includes),
      () => elementsByText(includes, includes),
      () => elementsByText(includes, (own, el) => isVisible(el) && hasShown(el, { text })), // around hidden elements with the text
    ];
    let hidden = [];
    for (const tier of tiers) {
      const found = tier();
      const visible = found.filter(isVisible);
      if (visible.length) return visible;
      if (!hidden.length) hidden = found;
    }
    return hidden;
  };

  // attributeNames are the names that attributes give to an element.
  const attributeNames = (el) =>
    ["aria-label", "placeholder", "title", "alt"].map((name) => normalize(el.getAttribute(name) ?? "")).filter(Boolean);

  // isPartialName reports whether elementsByName found el only because one of its texts includes the text.
  const isPartialName = (el, text) => {
    const needle = normalize(text).toLowerCase();
    const texts = [textOf(el), nameOf(el), ...attributeNames(el), ...[...(el.labels ?? [])].map(textOf)];
    return !texts.some((own) => own.toLowerCase() === needle);
  };

  const find = (spec) => {
    const hasTestID = (el) => spec.testId === undefined || el.matches(`[${testIdAttribute}=${CSS.escape(spec.testId)}]`);
    if (spec.css !== undefined) return queryAll(spec.css).filter(hasTestID);
    if (spec.testId !== undefined) return queryAll(`[${testIdAttribute}=${CSS.escape(spec.testId)}]`);
    if (spec.middle !== undefined) return [elementAt(innerWidth / 2, innerHeight / 2) ?? document.documentElement];
    if (spec.focused !== undefined) return focusedField();
    if (spec.id === undefined) return elementsByName(spec.text);
    const id = CSS.escape(spec.id);
    const found = queryAll(`[id=${id}], [${testIdAttribute}=${id}]`);
    if (spec.text === undefined) return found;
    const text = normalize(spec.text);
    return found.filter(
      (el) => includesIgnoringCase(displayedText(el), text) || includesIgnoringCase(nameOf(el), text),
    );
  };

  // all are the elements that a spec finds, with narrowed only those inside or around one of several nodes.
  const all = (spec, narrowed, ...near) => {
    const contains = (outer, node) => isInside(node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement, outer);
    const found = find(spec);
    return narrowed ? found.filter((el) => near.some((node) => isInside(el, node) || contains(el, node))) : found;
  };

  // matches describe the elements from one index to another of those that a spec finds, or without one of the given ones,
  // for programs, and count all. Texts are cut after so many characters.
  const matches = (from, to, length, spec, ...given) => {
    const found = spec ? find(spec) : given;
    const list = found.slice(from, to).map((el) => ({
      tag: el.localName,
      text: displayedText(el).slice(0, length),
      label: attributeNames(el)[0]?.slice(0, length),
      id: (el.getAttribute("id") ?? "").slice(0, length),
      class: (el.getAttribute("class") ?? "").slice(0, length),
      visible: isVisible(el),
      enabled: !disabledReason(el),
      box: el.getClientRects().length ? boxOf(el) : undefined,
    }));
    return { count: found.length, list };
  };

  // ------------------------------------------------------------------------------------------- properties of an element

  // nameOf is what a person may call an element. It never includes what was typed into it.
  const nameOf = (el) => {
    const holdsInput = el.matches("select, textarea") || el.isContentEditable;
    const attribute = () => ["placeholder", "title", "alt"].map((name) => el.getAttribute(name)).find(Boolean);
    return normalize(el.getAttribute("aria-label") || (holdsInput ? "" : textOf(el)) || attribute() || "");
  };

  // describe is an element in words, as in button#save.primary "Save".
  const describe = (el) => {
    let text = el.localName;
    if (el.id) text += "#" + el.id;
    else if (el.getAttribute(testIdAttribute)) text += `[${testIdAttribute}="${el.getAttribute(testIdAttribute)}"]`;
    text += [...el.classList]
      .slice(0, 2)
      .map((name) => "." + name)
      .join("");
    if (el.name && !el.id && typeof el.name === "string") text += `[name="${el.name}"]`;
    const name = nameOf(el);
    return name ? `${text} "${name.length > 40 ? name.slice(0, 39) + "…" : name}"` : text;
  };

  // fieldContent is the whole text in a field.
  const fieldContent = (el) => (el.matches("input, textarea") ? el.value : el.textContent);

  // displayedText is the text that a person reads in an element; nothing in a password field, nor in a box to check.
  const displayedText = (el) => {
    if (el.matches("input[type=checkbox], input[type=radio]")) return "";
    if (el.localName === "select") return normalize([...el.selectedOptions].map((option) => option.label).join(", "));
    if ("value" in el && el.matches("input, textarea")) return el.type === "password" ? "" : el.value;
    return textOf(el);
  };

  const boxesOf = (el) => {
    if (getComputedStyle(el).display !== "contents") return [...el.getClientRects()];
    const range = document.createRange();
    range.selectNodeContents(el);
    return [...range.getClientRects()];
  };

  const isVisible = (el) => !invisibleReason(el);

  // isFrameHidden reports whether a style hides the frame of this document, or one around it, or it has no size. Of the
  // pages around a frame of another origin, it knows only the size of that frame.
  const isFrameHidden = () => {
    if (window !== top && (innerWidth === 0 || innerHeight === 0)) return true;
    for (let owner = window.frameElement; owner; owner = owner.ownerDocument.defaultView?.frameElement)
      if (getComputedStyle(owner).visibility !== "visible" || owner.clientWidth === 0 || owner.clientHeight === 0)
        return true;
    return false;
  };

  // invisibleReason says why an element is not visible; empty when it is.
  const invisibleReason = (el) => {
    if (el.localName === "option" && closest(el, "select")) {
      const select = closest(el, "select");
      if (select.size < 2 && !select.multiple) return el.selected ? invisibleReason(select) : "its list is closed";
    }
    const style = getComputedStyle(el);
    if (style.visibility !== "visible") return `visibility: ${style.visibility}`;
    if (style.display !== "contents" && !el.checkVisibility()) {
      for (let p = el; p; p = parentOf(p)) {
        if (getComputedStyle(p).display === "none")
          return p === el ? "display: none" : `display: none on ${describe(p)}`;
      }
      return "it is not rendered";
    }
    if (!boxesOf(el).some((box) => box.width > 0 && box.height > 0)) return "it has no size";
    return isFrameHidden() ? "its frame is hidden" : "";
  };

  // controlOf is the control that a label belongs to, if it matches the selector, else the element itself.
  const controlOf = (el, selector) => {
    if (el.matches(selector)) return el;
    const control = closest(el, "label")?.control;
    return control?.matches(selector) ? control : el;
  };

  const disabledReason = (el) => {
    const own = closest(el, "button, input, select, textarea, option, optgroup, a, [role]") ?? el;
    if (own.matches(":disabled")) return own.disabled ? "it is disabled" : "it is in a disabled fieldset";
    const aria = closest(el, "[aria-disabled]");
    if (aria?.getAttribute("aria-disabled") !== "true") return "";
    return aria === el ? "it is aria-disabled" : `${describe(aria)} is aria-disabled`;
  };

  // disabledForClick says why a click on an element does nothing: it is disabled, or the control of the label that it is in.
  const disabledForClick = (el) => {
    const control = closest(el, `label, ${controls}`)?.control;
    const ofControl = control ? disabledReason(control).replace(/^it/, () => describe(control)) : "";
    return disabledReason(el) || ofControl;
  };

  // pointInView is the middle of the largest part of an element that is in the viewport; null when none is.
  const pointInView = (el) => {
    let best = null;
    for (const box of boxesOf(el)) {
      const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
      const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
      const area = (right - left) * (bottom - top);
      if (right - left < 1 || bottom - top < 1 || (best && area <= best.area)) continue;
      best = { area, x: (left + right) / 2, y: (top + bottom) / 2 };
    }
    return best;
  };

  // rootsAround are the shadow roots that an element is in, by their hosts. Those of a closed root do not name it.
  const rootsAround = (el) => {
    const around = new Map();
    for (let root = el?.getRootNode(); root?.host; root = root.host.getRootNode()) around.set(root.host, root);
    return around;
  };

  // elementAt is the innermost element at a point, inside open shadow roots and the closed ones that el is in.
  const elementAt = (x, y, el) => {
    const closed = rootsAround(el);
    let hit = document.elementFromPoint(x, y);
    for (;;) {
      const inner = elementIn(hit?.shadowRoot ?? closed.get(hit), x, y);
      if (!inner || inner === hit) return hit;
      hit = inner;
    }
  };

  // elementIn is the element of a shadow root at a point; null if there is none. For a text in a slot, which clicks the
  // element around the slot, elementFromPoint has the host whose text it is: that of the root, or one around it.
  const elementIn = (root, x, y) => {
    const isOwn = (el) => el?.getRootNode() === root;
    const el = root?.elementFromPoint(x, y);
    if (!el || isOwn(el)) return el;
    const [first] = root.elementsFromPoint(x, y);
    return isOwn(first) ? first : null;
  };

  // receivesEventsAt reports whether el receives an event at hit: hit is inside it, inside the button or link around
  // it, or on its label.
  const receivesEventsAt = (hit, el) =>
    isInside(hit, closest(el, "button, a, [role=button], [role=link]") ?? el) ||
    isInside(hit, el) ||
    [...(el.labels ?? [])].some((label) => isInside(hit, label));

  // coveredReason says why an element does not receive events at a point; empty when it does.
  const coveredReason = (el, point) => {
    const hit = elementAt(point.x, point.y, el);
    if (hit && receivesEventsAt(hit, el)) return "";
    const inert = closest(el, "[inert]");
    if (inert) return `${describe(inert)} is inert`;
    if (getComputedStyle(el).pointerEvents === "none")
      return "its style is pointer-events: none" + (hit ? `; ${describe(hit)} receives clicks there` : "");
    return hit ? `${describe(hit)} covers it` : "nothing there receives events";
  };

  // ------------------------------------------------------------------------------------------------------------ waiting

  // In a document without scripts, such as one in a sandbox, the browser calls no callbacks of timers and of animation
  // frames: it writes an error to the console instead. But it keeps promises.
  const hasScripts = !matchMedia("(scripting: none)").matches;

  let neverChanged;

  // after calls a function after some milliseconds. clearTimeout takes what it returns, and may have no effect.
  const after = (milliseconds, done) => {
    if (hasScripts) return setTimeout(done, milliseconds);
    neverChanged ??= new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
    Promise.resolve(Atomics.waitAsync(neverChanged, 0, 0, milliseconds).value).then(done);
  };

  // inNextFrame calls a function in the next animation frame.
  const inNextFrame = (done) => {
    if (hasScripts) return requestAnimationFrame(done);
    const animation = new Animation(new KeyframeEffect(null, null, 1));
    animation.play();
    animation.finished.then(done);
  };

  // nextFrame ends with the next animation frame, or after limit milliseconds in a page that draws none, such as one in
  // the background.
  const nextFrame = (limit = 200) =>
    new Promise((done) => {
      const timer = after(limit, done);
      inNextFrame(() => {
        clearTimeout(timer);
        done();
      });
    });

  // -------------------------------------------------------------------------------------------------- checking elements

  const sameBox = (a, b) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

  // Go asks for the root before it queries the accessibility tree, which answers with the next frame. The boxes of
  // controls are read here, so that observe need not wait for another frame to see whether a control moves.
  let sampledBoxes = null;

  const root = () => {
    const sample = { boxes: new Map(), frameEnded: false };
    for (const el of [...document.querySelectorAll(controls)].slice(0, 300))
      sample.boxes.set(el, el.getBoundingClientRect());
    inNextFrame(() => (sample.frameEnded = true));
    sampledBoxes = sample;
    return document;
  };

  // alignments are tried in turn for an element that something covers, such as a bar at an edge of the page.
  const alignments = ["nearest", "center", "end", "start"];

  const scrollTo = (el, block) =>
    el.scrollIntoView({ block, inline: block === "nearest" ? block : "center", behavior: "instant" });

  const attached = ["attached"];
  const attachedVisible = ["attached", "visible"];
  const attachedVisibleEnabled = ["attached", "visible", "enabled"];

  // shownAs is what people click for an element: itself, or the first visible label of an input that a style hides, such
  // as a check box that the label draws.
  const shownAs = (el) => {
    if (!el.matches("input[type=checkbox], input[type=radio], input[type=file]") || !isHiddenByStyle(el)) return el;
    return [...(el.labels ?? [])].find(isVisible) ?? el;
  };

  // isHiddenByStyle reports whether nobody can see an element: it is not rendered, smaller than two pixels, or beside
  // the page.
  const isHiddenByStyle = (el) => {
    const box = el.getBoundingClientRect();
    const outside = box.right + scrollX <= 0 || box.bottom + scrollY <= 0;
    return Boolean(invisibleReason(el)) || outside || box.width < 2 || box.height < 2;
  };

  // pointOn is where el is clicked: in the middle, but not on another control inside it, such as a link in a label.
  const pointOn = (el, given) => {
    const middle = pointInView(el);
    if (!middle || el === given) return middle;
    const onControl = ({ x, y }) => {
      const hit = elementAt(x, y, el);
      const control = hit && isInside(hit, el) && closest(hit, controls);
      return control && control !== given && control !== el && isInside(control, el);
    };
    const edges = boxesOf(el).flatMap((box) => [
      { x: box.left + 3, y: box.top + box.height / 2 },
      { x: box.right - 3, y: box.top + box.height / 2 },
    ]);
    return [middle, ...edges].find((point) => !onControl(point)) ?? middle;
  };

  const atPosition = (el, { x, y }) => {
    const box = el.getBoundingClientRect();
    return { x: box.left + el.clientLeft + x, y: box.top + el.clientTop + y };
  };

  // outsideReason says why a position is not in an element; empty when it is.
  const outsideReason = (el, position) => {
    const box = el.getBoundingClientRect();
    const point = atPosition(el, position);
    if (point.x < box.right && point.y < box.bottom) return "";
    const size = `${Math.round(box.width)} × ${Math.round(box.height)}`;
    return `the position ${position.x}, ${position.y} is outside of it: it has ${size} pixels`;
  };

  // positionInView is the point of a position in an element, null when that is not in the viewport.
  const positionInView = (el, position) => {
    const point = atPosition(el, position);
    return point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight ? point : null;
  };

  // scrollToPosition scrolls the page so that a position in a large element is in the viewport.
  const scrollToPosition = (el, position) => {
    if (positionInView(el, position)) return;
    const { x, y } = atPosition(el, position);
    scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: "instant" });
  };

  // canScroll reports whether a person can scroll what is inside an element, up and down or to the sides.
  const canScroll = (el, sideways) => {
    const isRoot = el === document.scrollingElement;
    const overflow = getComputedStyle(el)[sideways ? "overflowX" : "overflowY"];
    const overflows = sideways ? el.scrollWidth > el.clientWidth : el.scrollHeight > el.clientHeight;
    return overflows && (isRoot ? overflow !== "hidden" : overflow === "auto" || overflow === "scroll");
  };

  // dragMargin is the width of the areas, in pixels, in which browsers and libraries scroll while something is dragged.
  const dragMargin = 32;

  // isNearEdge reports whether a point of an element is so near to an edge of the viewport, or of an area around the
  // element, that dragging there scrolls.
  const isNearEdge = (el, { x, y }) => {
    for (let area = parentOf(el); area; area = parentOf(area)) {
      const isRoot = area === document.scrollingElement;
      const box = isRoot ? new DOMRect(0, 0, innerWidth, innerHeight) : area.getBoundingClientRect();
      if (canScroll(area, false) && Math.min(y - box.top, box.bottom - y) < dragMargin) return true;
      if (canScroll(area, true) && Math.min(x - box.left, box.right - x) < dragMargin) return true;
    }
    return false;
  };

  // stillAround waits until an element stays where it is, for a short time, and tells whether that is still around a
  // point. What covers it then may be there because of the mouse.
  const stillAround = async (el, { x, y }, box) => {
    const end = performance.now() + 500;
    for (let stays = 0; stays < 2 && performance.now() < end; stays++) {
      const before = box;
      await nextFrame();
      box = el.getBoundingClientRect();
      if (!sameBox(box, before)) stays = -1;
    }
    const moved = x < box.left || x > box.right || y < box.top || y > box.bottom;
    return moved && el.isConnected ? { reason: "it moved away from the mouse" } : {};
  };

  // checkPointer checks whether an element can receive a click or the mouse. With options.inset, it scrolls an element
  // near an edge away from that, if it can.
  const checkPointer = (given, options, memo) => {
    const el = shownAs(given);
    const hidden = invisibleReason(el);
    if (hidden) return { reason: `it is not visible: ${hidden}`, held: attached };
    // Scrolling an inner frame scrolls the pages around it, too.
    if (window !== top && memo.scrolls === undefined) scrollTo(el, alignments[options.round % 4]);
    const outside = options.position && outsideReason(el, options.position);
    if (outside) return { reason: outside, held: attachedVisible };
    const pointOf = () => (options.position ? positionInView(el, options.position) : pointOn(el, given));
    let point = pointOf();
    let covered = point ? coveredReason(el, point) : "it is out of view";
    memo.scrolls ??= 0;
    const nearEdge = options.inset && !memo.scrolls && point && isNearEdge(el, point);
    if (nearEdge || (covered && memo.tries >= memo.scrolls * 8)) {
      scrollTo(el, (point && !nearEdge) || memo.scrolls ? alignments[memo.scrolls % 4] : "center");
      if (options.position) scrollToPosition(el, options.position);
      memo.scrolls++;
      point = pointOf();
      covered = point ? coveredReason(el, point) : "it is out of view, and cannot be scrolled into view";
    }
    const box = el.getBoundingClientRect();
    const stable = memo.box && sameBox(memo.box, box);
    const first = !memo.box;
    memo.box = box;
    if (!stable) return { reason: "it moves", held: attachedVisible, again: first };
    const disabled = options.enabled ? disabledForClick(given) : "";
    if (disabled) return { reason: disabled, held: ["attached", "visible", "stable"] };
    if (covered) return { reason: covered, held: ["attached", "visible", "stable", "enabled"] };
    return { x: point.x, y: point.y, ...(el !== given && { found: `${describe(given)} by its label` }) };
  };

  // A check returns {reason} and the conditions that held when an element is not ready. With again: true, the next
  // frame may tell more. Else it returns what Go needs to act, or in apply a function that acts. memo belongs to the
  // check, until the element changes.
  const checks = {
    click: (el, options, memo) => checkPointer(el, { ...options, enabled: true }, memo),
    hover: (el, options, memo) => {
      const ready = checkPointer(el, options, memo);
      return ready.reason === undefined ? { ...ready, apply: () => stillAround(shownAs(el), ready, memo.box) } : ready;
    },

    // focus prepares a field for text: with options.clear it selects everything in it, with options.atEnd it moves the
    // caret to the end, also in a field that has the focus.
    focus: (given, options) => {
      const field = controlOf(given, "input, textarea, [contenteditable]"); // which may be a paragraph of an editor
      const el = (field.isContentEditable && closest(field, "[contenteditable]")) || field;
      const hidden = invisibleReason(el);
      if (hidden) return { reason: `it is not visible: ${hidden}`, held: attached };
      const disabled = disabledReason(el);
      if (disabled) return { reason: disabled, held: attachedVisible };
      if (!takesText(el)) return { reason: `it does not take text: ${describe(el)}`, held: attachedVisibleEnabled };
      if (el.readOnly || el.ariaReadOnly === "true") return { reason: "it is read-only", held: attachedVisibleEnabled };
      if (activeElement(el) !== el) {
        el.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
        el.focus({ preventScroll: true });
      }
      if (!isInside(activeElement(el), el)) return { reason: "it does not take the focus", held: attachedVisibleEnabled };
      if (options.clear && !isValidValue(el, options.text)) {
        const form = formsOfValues[el.type];
        return {
          reason:
            `${options.secret ? "the value" : `"${options.text}"`} is not valid for a ${el.type} field` +
            (form ? `, whose values have the form ${form}` : ""),
          held: attachedVisibleEnabled,
        };
      }
      if (options.clear && nativeTypes.has(el.type))
        return { found: describe(el), apply: () => setValue(el, options.text) };
      if (options.clear || options.atEnd) selectContent(field, options.clear);
      return { found: describe(field), receiver: el, field };
    },

    // select chooses options of a drop-down list, by value or by label.
    select: (given, options) => {
      const el = controlOf(given, "select");
      if (el.localName !== "select") {
        if (isOtherControl(el)) return { impossible: "it is not a <select>; click it, then click the option" };
        return { reason: `it is not a <select> but ${describe(el)}; click it, then click the option`, held: attached };
      }
      const hidden = invisibleReason(el);
      if (hidden) return { reason: `it is not visible: ${hidden}`, held: attached };
      const disabled = disabledReason(el);
      if (disabled) return { reason: disabled, held: attachedVisible };
      if (!el.multiple && options.values.length > 1)
        return { reason: "it takes one value", held: attachedVisibleEnabled };
      const chosen = new Set();
      for (const value of options.values) {
        const all = [...el.options];
        const option =
          all.find((e) => e.value === value) ??
          all.find((e) => normalize(e.label) === normalize(value)) ??
          all.find((e) => textOf(e) === normalize(value));
        if (!option) {
          const known = all.slice(0, 12).map((e) => `"${normalize(e.label)}"`);
          return {
            reason: `it has no option "${value}", only ${known.join(", ") || "none at all"}`,
            held: attachedVisibleEnabled,
          };
        }
        if (option.matches(":disabled"))
          return { reason: `its option "${value}" is disabled`, held: attachedVisibleEnabled };
        chosen.add(option);
      }
      return { found: describe(el), apply: () => chooseOptions(el, chosen) };
    },

    // scroll turns the wheel over an element, if options.wheel is true and a script handles that. Else it moves what is
    // inside the element, or inside the nearest ancestor that scrolls in that direction.
    scroll: (el, options) => ({
      apply: () => (options.wheel && turnWheel(el, options) ? { wheel: true } : scrollContent(el, options)),
    }),

    exists: () => ({}),

    // box scrolls a visible element into view and returns its box in the viewport of its frame.
    box: (el) => {
      const hidden = invisibleReason(el);
      if (hidden) return { reason: hidden, held: attached };
      el.scrollIntoViewIfNeeded();
      return boxOf(el);
    },

    marked: (el, { mark }) => (el === marked(mark) ? {} : { reason: "it is another element" }),
    read: (el) => ({ text: displayedText(el) }),

    // readShown reads what a visible element shows: all of it, or what options.pattern matches, its first group if it
    // has one. It leaves the spaces that are in numbers as they are if the pattern names them.
    readShown: (el, options) => {
      const hidden = invisibleReason(el);
      if (hidden) return { reason: `it is not visible: ${hidden}`, held: attached };
      const spaces = /[\u00a0\u202f]/.test(options.pattern) ? /[^\S\u00a0\u202f]+/g : undefined;
      const whole = el.matches("input, textarea, select") ? displayedText(el) : shownIn(el, spaces);
      if (options.pattern === undefined)
        return whole ? { text: whole } : { reason: "it shows no text", held: attachedVisible };
      const match = patternOf(options).exec(whole);
      return match ? { text: match[1] ?? match[0] } : { reason: "its text", actual: whole };
    },

    visible: (el) => {
      const hidden = invisibleReason(el);
      return hidden ? { reason: hidden, held: attached } : {};
    },

    // text, value and attribute compare with options.expected, options.contains or options.pattern; actual is what the
    // element has. The text of a field is its value, or the label of what is chosen in it.
    text: (el, options) => {
      if (el.type === "password") return checks.value(el, options);
      const actual = displayedText(el);
      const isField = el.matches("input, textarea, select");
      const seen = isField ? [actual, normalize(actual)] : [spacedText(el), normalize(el.innerText ?? "")];
      const holds = (text) =>
        compares(text, options) || (options.expected !== undefined && text === normalize(options.expected));
      const text = [...seen, actual, normalize(actual)].find(holds);
      if (text === undefined) return { reason: "its text", actual: isField ? actual : seen[0] };
      return { text, inWord: cutsWord(text, options), ...(!isField && unspaced(el, text)) };
    },
    value: (given, options) => {
      const el = controlOf(given, "input, textarea, select");
      if (!el.matches("[value], input, textarea, select, option, progress, meter, output") && !el.isContentEditable)
        return { reason: `it has no value: ${describe(el)}` };
      const chosen =
        el.multiple && el.selectedOptions ? [...el.selectedOptions].map((e) => e.value).join(", ") : undefined;
      const actual = chosen ?? String(el.value ?? textOf(el));
      const shown = el.type === "password" ? "[secret]" : actual;
      return compares(actual, options)
        ? { text: shown, inWord: cutsWord(actual, options) }
        : { reason: "its value", actual: shown };
    },
    attribute: (el, options) => {
      const actual = el.getAttribute(options.attribute);
      if (actual === null)
        return {
          reason: `it has no attribute "${options.attribute}", only ${el.getAttributeNames().join(", ") || "none"}`,
        };
      return compares(actual, options) ? { text: actual } : { reason: `its attribute "${options.attribute}"`, actual };
    },

    // shows demands that a text is visible inside the element, hides that it is not.
    shows: (el, options) => {
      const hidden = invisibleReason(el);
      if (hidden) return { reason: `it is not visible: ${hidden}`, held: attached };
      const visible = textsWithin(el, options);
      if (visible.length) return seenText(visible, options);
      return { reason: `it shows only "${start(shownIn(el))}"`, held: attachedVisible, ...framesWithin(el) };
    },
    hides: (el, options) => {
      const hidden = invisibleReason(el);
      if (hidden) return { reason: `it is not visible: ${hidden}`, held: attached };
      const visible = textsWithin(el, options);
      return visible.length ? { reason: `it shows "${start(shownText(visible[0]))}"` } : framesWithin(el);
    },

    // list demands that every item is visible inside the element, with options.ordered in this order.
    list: (el, options) => {
      const hidden = invisibleReason(el);
      if (hidden) return { reason: `it is not visible: ${hidden}` };
      const shown = options.items.map((text) => textsWithin(el, { text, exact: options.exact }));
      const repeated = (item) => options.items.filter((other) => normalize(other) === normalize(item)).length;
      const missing = options.items.filter((_, i) => !shown[i].length);
      if (missing.length) {
        const instead = options.exact ? " as the whole text of an element" : "";
        return { reason: `it does not show ${missing.map((item) => `"${item}"`).join(", ")}${instead}` };
      }
      const order = options.ordered ? listOrder(options.items, shown) : {};
      if (order.reason) return order;
      const more = options.only ? otherItem(el, options.items) : "";
      if (more) return { reason: more };
      for (const [i, item] of options.items.entries()) {
        const times = timesShown(item, shown[i]);
        if (times < repeated(item)) return { reason: `it shows "${item}" ${times} of ${repeated(item)} times` };
      }
      const whole = (item, i) => shown[i].filter((el) => isWholeText(el, normalize(item))).length;
      const parts = options.items.filter((item, i) => whole(item, i) < repeated(item));
      return { parts: [...new Set(parts)] };
    },

    // state checks one of the states of web_verifyState.
    state: (el, options) => stateReasons[options.state](el),

    // toggle prepares a check box, radio button or switch for a click that changes its state.
    toggle: (given, options, memo) => {
      const el = controlOf(given, toggles);
      const state = checkedState(el);
      if (!state) return { impossible: "it is not a check box, a radio button or a switch" };
      toggledElement = new WeakRef(el);
      const isUnchecked = state === "unchecked" || (state === "mixed" && !el.checked); // as for Playwright
      if (options.checked ? state === "checked" : isUnchecked) return { apply: () => ({}) };
      if (!options.checked && (el.type === "radio" || el.role === "radio"))
        return { impossible: "a radio button is unchecked only by checking another one" };
      return { ...checkPointer(el, { ...options, enabled: true }, memo), receiver: el };
    },

    // upload prepares a file field.
    upload: (given, options) => {
      const el = controlOf(given, 'input[type="file"]');
      if (!el.matches('input[type="file"]')) {
        const reason = "it is not a file field; click it, then call web_uploadFile without an element";
        return isOtherControl(el) ? { impossible: reason } : { reason, held: attached };
      }
      const disabled = disabledReason(el);
      if (disabled) return { reason: disabled, held: attached };
      if (options.files > 1 && !el.multiple) return { impossible: `it takes one file, not ${options.files}` };
      return {};
    },

    // drag prepares an element that is dragged, or with options.drop one that another is dropped on.
    drag: (el, options, memo) => checkPointer(el, { ...options, inset: true, enabled: !options.drop }, memo),
  };

  // isOtherControl reports whether an element is a control of another kind than is wanted. A text, or a list of a script,
  // may be there only until the page has that.
  const isOtherControl = (el) =>
    el.matches("button, a, input, textarea, [role], [tabindex]") && !el.matches("[role=combobox], [role=listbox]");

  // shownIn is the text that people see in an element, also in shadow roots and slots, which innerText leaves out.
  const shownIn = (el, spaces) => {
    const light = normalize(el.innerText ?? el.textContent, spaces);
    const isAll = placesIn(el).length === 1 || withoutSpaces(normalize(light)) === withoutSpaces(spacedText(el));
    return isAll ? light : readShownTexts(el, spaces)[1];
  };

  // framesWithin returns {frames: true} for an element with frames in it. isFrameWithin reports whether an element, such as
  // an iframe, is in the last one.
  let outerRef = null;

  const framesWithin = (el) => {
    outerRef = new WeakRef(el);
    return placesIn(el).some((place) => place.querySelectorAll("iframe, frame").length) ? { frames: true } : {};
  };

  const isFrameWithin = (owner) => isInside(owner, outerRef?.deref());

  const start = (text) => {
    const line = normalize(text);
    return line.length > 100 ? line.slice(0, 99) + "…" : line;
  };

  const patternOf = ({ expression }) => new RegExp(expression, "u");

  // compares reports whether a text is options.expected, has options.contains, or matches options.pattern somewhere.
  const compares = (text, { expected, contains, expression }) => {
    if (expression !== undefined) return patternOf({ expression }).test(text);
    if (contains !== undefined) return normalize(text).includes(normalize(contains));
    return text === expected;
  };

  // cutsWord reports whether what options.contains or options.pattern finds in a text begins or ends within a word or
  // number each time.
  const cutsWord = (text, { contains, expression }) => {
    if (contains !== undefined) return !hasWords(normalize(text), normalize(contains));
    if (expression === undefined) return false;
    const { source, flags } = patternOf({ expression });
    const found = [...text.matchAll(new RegExp(source, flags + "g"))].filter(([match]) => match);
    const cuts = (at) => {
      const [before, after] = [text.slice(Math.max(0, at - 2), at), text.slice(at, at + 2)];
      const inWord = /[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(after);
      const inNumber = /\p{N}$/u.test(before) ? /^[.,]\p{N}/u.test(after) : /\p{N}[.,]$/u.test(before) && /^\p{N}/u.test(after);
      return inWord || inNumber;
    };
    return found.length > 0 && !isUnspaced(text) && found.every((match) => cuts(match.index) || cuts(match.index + match[0].length));
  };

  // unspaced says how a person reads a text that is in an element only without the white space which they see there.
  const unspaced = (el, text) => {
    const spaced = spacedText(el);
    const isOnlyUnspaced = spaced !== text && withoutSpaces(spaced) === withoutSpaces(text);
    return isOnlyUnspaced && spaced.length > text.length ? { unspaced: spaced } : {};
  };

  // timesShown is how often elements show a text.
  const timesShown = (text, elements) => {
    const needle = normalize(text).toLowerCase();
    const times = (el) => Math.max(1, textWith(el, needle).toLowerCase().split(needle).length - 1);
    return elements.reduce((sum, el) => sum + times(el), 0);
  };

  // otherItem says which item a list has besides the items; empty if none. Its items are those with such a role, or
  // its children.
  const otherItem = (el, items) => {
    const roles = "li, option, tr, [role=listitem], [role=option], [role=row], [role=menuitem], [role=treeitem], [role=tab]";
    const isItem = (node) => node.nodeType === Node.ELEMENT_NODE && isVisible(node) && shownText(node);
    const inside = drawnInside(el).filter((node) => node.nodeType === Node.ELEMENT_NODE && node.matches(roles));
    const children = [...contentOf(el)].flatMap((node) => (node.localName === "slot" ? [...contentOf(node)] : node));
    const own = (inside.length ? inside : children).filter(isItem);
    const has = (item) => items.some((text) => includesIgnoringCase(textWith(item, normalize(text)), normalize(text)));
    const other = own.find((item) => !has(item));
    if (other) return `it also shows "${shownText(other)}"`;
    return own.length > items.length ? `it has ${own.length} items, not ${items.length}` : "";
  };

  // listOrder looks for items that are shown by elements one after another.
  const listOrder = (items, shown) => {
    let [at, offset] = [null, 0];
    for (const [i, item] of items.entries()) {
      const needle = normalize(item).toLowerCase();
      const next = shown[i].find((el) =>
        el === at ? textWith(el, needle).toLowerCase().includes(needle, offset) : !at || compareDocumentOrder(at, el) < 0,
      );
      if (!next) return { reason: `it shows "${item}", but not after "${items[i - 1]}"` };
      offset = textWith(next, needle).toLowerCase().indexOf(needle, next === at ? offset : 0) + needle.length;
      at = next;
    }
    return {};
  };

  const toggleRoles = ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];
  const toggles =
    'input[type="checkbox"], input[type="radio"], [aria-checked], ' + toggleRoles.map((r) => `[role="${r}"]`).join(", ");
  const fields = "input, textarea, select, [contenteditable], [aria-readonly]";

  // checkedState is checked, unchecked or mixed; empty for an element that cannot be checked.
  const checkedState = (el) => {
    if (!el.matches(toggles)) return "";
    if (el.matches("input")) {
      if (el.indeterminate) return "mixed";
      return el.checked ? "checked" : "unchecked";
    }
    return { true: "checked", mixed: "mixed" }[el.ariaChecked] ?? "unchecked";
  };

  // expandedState is expanded or collapsed; empty for an element that cannot be expanded.
  const expandedState = (el) => {
    const details = el.localName === "summary" ? el.parentElement : el;
    const open = details?.localName === "details" ? String(details.open) : el.getAttribute("aria-expanded");
    return { true: "expanded", false: "collapsed" }[open] ?? "";
  };

  // isField reports whether an element is a field: a native one, one that can be edited, or one of those ARIA roles that
  // can be read-only and says whether it is.
  const readOnlyRoles =
    "checkbox combobox grid gridcell listbox radiogroup slider spinbutton textbox columnheader rowheader searchbox switch treegrid";
  const isField = (el) =>
    el.matches("input, textarea, select") ||
    el.isContentEditable ||
    (el.hasAttribute("aria-readonly") && readOnlyRoles.split(" ").includes(el.role));

  const isReadOnly = (el) => el.readOnly === true || el.ariaReadOnly === "true";

  // stateIs returns the reason why a state is not the wanted one.
  const stateIs = (state, wanted, none) => {
    if (!state) return { reason: none };
    return state === wanted ? {} : { reason: `it is ${state}` };
  };

  // stateReasons return {reason} for an element that is not in a state.
  const stateReasons = {
    checked: (el) => stateIs(checkedState(controlOf(el, toggles)), "checked", "it cannot be checked"),
    unchecked: (el) => stateIs(checkedState(controlOf(el, toggles)), "unchecked", "it cannot be checked"),
    expanded: (el) => stateIs(expandedState(el), "expanded", "it cannot be expanded"),
    collapsed: (el) => stateIs(expandedState(el), "collapsed", "it cannot be expanded"),
    enabled: (el) => {
      const reason = disabledReason(controlOf(el, fields));
      return reason ? { reason } : {};
    },
    disabled: (el) => (disabledReason(controlOf(el, fields)) ? {} : { reason: "it is enabled" }),
    focused: (given) => {
      const el = controlOf(given, fields);
      const active = activeElement(el);
      if (document.hasFocus() && active === el) return {};
      const hasFocus = active && active !== document.body;
      return { reason: hasFocus ? `the focus is on ${describe(active)}` : "nothing has the focus" };
    },
    editable: (given) => {
      const el = controlOf(given, fields);
      if (!isField(el)) return { reason: "it is not a field" };
      const reason = disabledReason(el) || (isReadOnly(el) ? "it is read-only" : "");
      return reason ? { reason } : {};
    },
    readonly: (given) => {
      const el = controlOf(given, fields);
      if (!isField(el)) return { reason: "it is not a field" };
      return isReadOnly(el) ? {} : { reason: "it is not read-only" };
    },
    selected: (el) => {
      const selected = el.localName === "option" ? String(el.selected) : el.getAttribute("aria-selected");
      if (selected === null) return { reason: "it cannot be selected" };
      return selected === "true" ? {} : { reason: "it is not selected" };
    },
    empty: (given) => {
      const el = controlOf(given, "input, textarea, select");
      if (checkedState(el)) return { reason: "it has no text that could be empty" };
      const value = "value" in el && el.matches("input, textarea, select") ? el.value : textOf(el) || spacedText(el);
      const hidden = el.type === "password" || value.length > 100;
      return value === "" ? {} : { reason: hidden ? "it has a text" : `it has "${normalize(value)}"` };
    },
  };

  // toggledElement is the element that the check "toggle" has found.
  let toggledElement = null;

  // toggled waits until the state of that element is state, for at most wait milliseconds. Its state is empty when it is
  // not in the page any more.
  const toggled = async (state, wait) => {
    const end = performance.now() + wait;
    for (;;) {
      const el = toggledElement?.deref();
      const now = el?.isConnected ? checkedState(el) : "";
      if (!now || now === state || performance.now() > end) return { state: now };
      await nextFrame();
    }
  };

  // observe finds an element anew in each animation frame until the check accepts it or options.wait milliseconds have
  // passed, and starts the guard for the event that follows. When no element matches and options.stay is false, it
  // returns at once: other frames may have it. To see whether an element moves, an animation frame is awaited for at
  // most options.frame milliseconds.
  const observe = async (check, spec, element, options) => {
    const end = performance.now() + options.wait;
    let memo = {};
    const sample = sampledBoxes;
    sampledBoxes = null;
    const newMemo = (el) => ({ el, box: sample?.frameEnded ? sample.boxes.get(el) : undefined });
    for (let tries = 1; ; tries++) {
      const began = performance.now();
      const { memo: kept, again, ...seen } = observeOnce(check, spec, element, options, memo, tries, newMemo);
      memo = kept;
      const now = performance.now();
      if (seen.ready || seen.gone || (now >= end && !again) || (!seen.count && !options.stay))
        return { tries, ...seen };
      do await nextFrame(again ? options.frame : undefined);
      while (!again && performance.now() < now + 4 * (now - began)); // leave time to a page that is slow to search
    }
  };

  const observeOnce = (check, spec, element, options, memo, tries, newMemo) => {
    const matches = element ? (element.isConnected ? [element] : []) : find(spec);
    const first = options.any && options.index === undefined ? matches.find(isVisible) : undefined;
    const el = first ?? matches[options.index ?? 0];
    const seen = { count: matches.length, memo, gone: Boolean(element) && !el };
    if (!el) return spec?.focused === undefined ? seen : { ...seen, missing: noFocusReason() };
    if (options.unique && options.index === undefined && matches.length > 1)
      return { ...seen, matches: matches.slice(0, 5).map(describe) };
    if (memo.el !== el) seen.memo = newMemo(el);
    seen.memo.tries = tries;
    const { apply, receiver, field, ...checked } = checks[check](el, options, seen.memo);
    pendingApply = apply && { el, apply };
    Object.assign(seen, checked, { apply: Boolean(apply), ready: checked.reason === undefined });
    if (seen.impossible) seen.ready = false;
    if (seen.ready) {
      startGuard(check, receiver ?? el, field ?? el);
      readyRef = new WeakRef(el);
      if (spec?.text !== undefined && spec.id === undefined) seen.partial = isPartialName(el, spec.text);
    }
    if (!seen.again) seen.found ??= describe(el);
    return seen;
  };

  // readyRef refers to the last element that was found ready.
  let readyRef = null;

  const readyElement = () => {
    const el = readyRef?.deref();
    return el?.isConnected ? controlOf(el, 'input[type="file"]') : null;
  };

  // pendingApply is an action that scripts perform, not the browser. apply performs it once.
  let pendingApply = null;

  const apply = () => {
    const { el, apply } = pendingApply ?? {};
    pendingApply = null;
    return el?.isConnected ? apply() : { gone: true };
  };

  // ------------------------------------------------------------------------------------------------------------- fields

  // nativeTypes are types of fields whose parts the browser draws itself, so that nothing can be typed into them.
  const nativeTypes = new Set(["color", "date", "time", "datetime-local", "month", "range", "week"]);
  const formsOfValues = {
    color: "#rrggbb",
    date: "2027-12-31",
    time: "23:59",
    "datetime-local": "2027-12-31T23:59",
    month: "2027-12",
    week: "2027-W52",
  };
  const typesWithoutText = new Set(["button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden"]);

  const takesText = (el) =>
    el.localName === "textarea" || (el.localName === "input" && !typesWithoutText.has(el.type)) || el.isContentEditable;

  // activeElement is the element with the focus, inside open shadow roots and the closed ones that near is in.
  const activeElement = (near) => {
    const closed = rootsAround(near);
    for (let el = document.activeElement; ; ) {
      const inner = (el?.shadowRoot ?? closed.get(el))?.activeElement;
      if (!inner) return el;
      el = inner;
    }
  };

  // hasAutofocus reports whether an element in a document has autofocus. Frames of other origins are not given the focus.
  const hasAutofocus = (inside) =>
    Boolean(inside.querySelector("[autofocus]")) ||
    [...inside.querySelectorAll("iframe, frame")].some((el) => el.contentDocument && hasAutofocus(el.contentDocument));

  // focused describes what keys go to. The browser gives an element with autofocus the focus with a frame of its own,
  // which can come after the page has loaded.
  const focused = async () => {
    if (activeElement() === document.body && hasAutofocus(document)) await nextFrame();
    return describe(activeElement() ?? document.body);
  };

  // focusedField is the field that has the focus in this document.
  const focusedField = () => {
    const el = activeElement();
    const isField =
      document.hasFocus() &&
      el &&
      !el.matches("iframe, frame") &&
      takesText(el) &&
      !el.readOnly &&
      !el.matches(":disabled");
    return isField ? [el] : [];
  };

  // noFocusReason says what has the focus instead of a field; empty when that is in another document.
  const noFocusReason = () => {
    const el = activeElement();
    return document.hasFocus() && el && !el.matches("iframe, frame")
      ? `no field has the focus, but ${describe(el)} (web_pressKey with text types wherever the focus is)`
      : "";
  };

  const selectContent = (el, all) => {
    if (el.select) {
      el.select();
      if (!all) getSelection().modify("move", "forward", "documentboundary");
      return;
    }
    const selection = getSelection();
    selection.selectAllChildren(el);
    if (!all) selection.collapseToEnd();
  };

  // isValidValue reports whether a field of that type would keep a text.
  const isValidValue = (el, text) => {
    if (!text || !(nativeTypes.has(el.type) || el.type === "number")) return true;
    const probe = document.createElement("input");
    for (const name of ["type", "min", "max", "step"])
      if (el.hasAttribute(name)) probe.setAttribute(name, el.getAttribute(name));
    probe.value = text;
    return el.type === "number" ? probe.value !== "" : probe.value.toLowerCase() === text.trim().toLowerCase();
  };

  const dispatchInputEvents = (el) => {
    for (const type of ["input", "change"]) el.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
    return { text: displayedText(el) };
  };

  const setValue = (el, text) => {
    el.value = text;
    return dispatchInputEvents(el);
  };

  const chooseOptions = (el, options) => {
    for (const option of el.options) option.selected = options.has(option);
    const entered = dispatchInputEvents(el);
    return { ...entered, refused: el.isConnected && [...options].some((option) => !option.selected) };
  };

  // turnWheel turns the wheel over an element, and reports whether the page has handled it. Lists that draw only some of
  // their rows, maps and canvases do.
  const turnWheel = (el, { dx, dy }) => {
    el.scrollIntoViewIfNeeded();
    const box = el.getBoundingClientRect();
    const init = { deltaX: dx, deltaY: dy, bubbles: true, cancelable: true, composed: true, view: window };
    const point = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
    return !el.dispatchEvent(new WheelEvent("wheel", { ...init, ...point }));
  };

  // movesOn reports whether a box is not at its end yet. Positions may have fractions, and are negative where texts run
  // from right to left.
  const movesOn = (box, dx, dy) => {
    const [at, room, by] = dx
      ? [box.scrollLeft, box.scrollWidth - box.clientWidth, dx]
      : [box.scrollTop, box.scrollHeight - box.clientHeight, dy];
    const isReversed = at < 0 || (dx !== 0 && getComputedStyle(box).direction === "rtl");
    const [first, last] = isReversed ? [-room, 0] : [0, room];
    return by > 0 ? at < last - 1 : at > first + 1;
  };

  // scrollContent scrolls the innermost box around el that can be scrolled; where no element is named, as a wheel does, the
  // innermost that can move on.
  const scrollContent = (el, { dx, dy, wheel }) => {
    const boxes = [];
    for (let box = el; box; box = parentOf(box)) if (canScroll(box, dx !== 0)) boxes.push(box);
    const page = document.scrollingElement ?? document.documentElement;
    const box = (!wheel && boxes.find((box) => movesOn(box, dx, dy))) || (boxes[0] ?? page);
    const before = [box.scrollLeft, box.scrollTop];
    box.scrollBy({ left: dx, top: dy, behavior: "instant" });
    const [position, moved, end] = dx
      ? [box.scrollLeft, box.scrollLeft - before[0], box.scrollWidth - box.clientWidth]
      : [box.scrollTop, box.scrollTop - before[1], box.scrollHeight - box.clientHeight];
    return { found: box === document.scrollingElement ? "the page" : describe(box), moved, position, end };
  };

  // -------------------------------------------------------------------------------------------------------------- guard

  // Between the moment when an element was found ready and the event, the page may put another element in its place.
  // The guard stops every event that would reach another element than the one that was found. The page does not receive
  // what is stopped, so it can be tried again.
  let guarded = null;

  // An event of ours comes within guardTime; later ones are a person's. An event in the first moment of a document was
  // meant for the document before: a navigation came between.
  const guardTime = 2000;
  const guardNewDocument = () => {
    const until = performance.now() + guardTime / 4;
    guarded = {
      types: ["pointerdown", "mousedown", "beforeinput"],
      el: null,
      received: false,
      blocked: "",
      until,
      newDocument: true,
    };
  };

  const firstEvents = {
    click: ["pointerdown", "mousedown"],
    toggle: ["pointerdown", "mousedown"],
    drag: ["pointerdown", "mousedown"],
    focus: ["keydown", "beforeinput"],
    frame: ["pointerdown", "mousedown"],
  };
  const laterEvents = ["pointerup", "mouseup", "click", "auxclick", "contextmenu", "dblclick", "keypress", "keyup"];

  // startGuard starts the guard for the events of a check, which el receives. Texts go into field, which may be a part of
  // el.
  const startGuard = (check, el, field) => {
    guarded = null;
    if (!firstEvents[check]) return;
    const until = performance.now() + guardTime;
    guarded = {
      types: firstEvents[check],
      el,
      field,
      before: field && fieldContent(field),
      received: false,
      blocked: "",
      inputs: 0,
      until,
    };
    addListeners();
  };

  // closedHosts are the hosts of closed shadow roots around el: listeners outside see no event deeper than these.
  const closedHosts = (el) => {
    const found = [];
    for (let root = el.getRootNode(); root.host; root = root.host.getRootNode())
      if (root.mode !== "open") found.push(root.host);
    return found;
  };

  // noteRelease notes the element that gets the release of the mouse because the one that got the press has moved away:
  // the page then sees no click.
  const noteRelease = (event) => {
    const { el, pressed } = guarded;
    const hit = event.composedPath()[0];
    const away = el.isConnected && !sameBox(pressed, el.getBoundingClientRect()) && !receivesEventsAt(hit, el);
    if (away && hit.nodeType === Node.ELEMENT_NODE) guarded.released = describe(hit);
  };

  const guardEvent = (event) => {
    if (!guarded || !event.isTrusted || document !== born) return;
    if (guarded.received) return event.type === "mouseup" && noteRelease(event);
    if (!guarded.blocked && (event.timeStamp > guarded.until || (!guarded.el && event.type === "keydown"))) {
      guarded = null;
      return;
    }
    const hit = event.composedPath()[0];
    if (!guarded.blocked && guarded.types.includes(event.type)) {
      const el = hit.nodeType === Node.ELEMENT_NODE ? hit : document.documentElement;
      if (guarded.el && (receivesEventsAt(el, guarded.el) || closedHosts(guarded.el).includes(el))) {
        guarded.received = true;
        guarded.pressed = guarded.el.getBoundingClientRect();
        return;
      }
      guarded.blocked = describe(el);
    }
    if (!guarded.blocked) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  const countInput = () => {
    if (guarded) guarded.inputs++;
  };

  // addListeners is called for each guard, because document.open removes listeners.
  const addListeners = () => {
    const types = new Set([...Object.values(firstEvents).flat(), ...laterEvents]);
    for (const type of types) addEventListener(type, guardEvent, { capture: true, passive: false });
    addEventListener("input", countInput, true);
  };
  guardNewDocument();
  addListeners();
  addEventListener("pageshow", (event) => event.persisted && guardNewDocument());

  // inputResult tells what became of the event, once: received, when the element received it; blocked, the element that
  // would have received it instead; neither, when no event arrived in this document. When a text was entered: accepted,
  // the field has the text; changed, its content changed or it received input; displayed, its text now, null when it is
  // not in the page any more.
  const inputResult = (text, clear) => {
    const { received, released, blocked, field, before, inputs } = guarded ?? { received: false, blocked: "" };
    const newDocument = !guarded || guarded.newDocument; // replaced the document in which the element was found
    guarded = null;
    if (newDocument) return { newDocument, blocked };
    if (text === undefined) return { received, released, blocked };
    const now = field?.isConnected ? fieldContent(field) : null;
    const wanted = clear ? text : before + text;
    const shownIn = (editor) => normalize(editor.innerText);
    return {
      received,
      blocked,
      accepted: now === null || now === wanted || (field.isContentEditable && shownIn(field) === normalize(wanted)),
      changed: inputs > 0 || now !== before,
      displayed: now && (field.isContentEditable ? shownIn(field) : displayedText(field)),
    };
  };

  // expectDrag makes dragStarted report whether an HTML drag begins in this document.
  let dragEvent = null;
  const expectDrag = () => {
    dragEvent = null;
    addEventListener("dragstart", (event) => (dragEvent = event), { once: true, capture: true });
  };
  const dragStarted = () => Boolean(dragEvent && !dragEvent.defaultPrevented);

  // pointInParent is where a point of an inner frame is in this document, or {reason} when the frame moves, or
  // something covers it there. An animation frame is awaited for at most limit milliseconds.
  const pointInParent = async (owner, x, y, limit) => {
    const before = owner.getBoundingClientRect();
    await nextFrame(limit);
    const box = owner.getBoundingClientRect();
    if (!sameBox(before, box)) return { reason: "its frame moves" };
    const style = getComputedStyle(owner);
    const point = {
      x: box.left + (owner.clientLeft + parseFloat(style.paddingLeft) + x) * (box.width / owner.offsetWidth),
      y: box.top + (owner.clientTop + parseFloat(style.paddingTop) + y) * (box.height / owner.offsetHeight),
    };
    if (point.x < 0 || point.y < 0 || point.x >= innerWidth || point.y >= innerHeight)
      return { reason: "its frame is out of view" };
    const covered = coveredReason(owner, point);
    if (covered) return { reason: covered };
    startGuard("frame", null, null);
    return point;
  };

  // ------------------------------------------------------------------------------------------ selectors for recordings

  // marks refer to the elements that Go looks for with the check "marked", by their numbers.
  const marks = new Map();
  const marked = (number) => marks.get(number)?.deref();

  // isStable reports whether an id, or the value of an attribute, looks as if it stays the same.
  const isStable = (text) =>
    Boolean(text) && text.length <= 80 && !/\d{3}|[\0-\x1f]|(?=[a-f]*\d)[0-9a-f]{8}/i.test(text) && !isGenerated(text);

  // isGenerated reports whether a text has an id that React made, such as :r1:, or a random word, such as 9natalkuf.
  const isGenerated = (text) => /:r\w+:|_r_\w+_|«r\w+»|(?<![^\W_])(?=[a-z]*\d+[a-z])[a-z\d]{8,}(?![^\W_])/.test(text);

  // isCounted reports whether an attribute has a number at its end, or the same value with another number is in the
  // page: then it is a position.
  const isCounted = (text, attribute) => {
    if (attribute === "id" && /\d$/.test(text)) return true;
    const parts = text.split(/\d+/);
    if (parts.length < 2) return false;
    const peers = queryAll(`[${attribute}^="${parts[0].replace(/["\\]/g, "\\$&")}"]`);
    return peers.some((el) => {
      const other = el.getAttribute(attribute);
      return other !== text && other.split(/\d+/).join("0") === parts.join("0");
    });
  };

  // hasStableID reports whether the id of el looks as if it stays the same. Those that end as switch-rf are counted by React.
  const hasStableID = (el) =>
    isStable(el.id) && /^[A-Za-z][\w-]*(?<![-_]r\d?[\da-v])$/.test(el.id) && !isCounted(el.id, "id");

  const withID = (el) => ({ selector: "#" + CSS.escape(el.id), texts: [el.id] });

  const tagOf = (el) => CSS.escape(el.localName);

  // withAttributes selects elements with the tag of el, and with its values of some attributes; null when it lacks one.
  const withAttributes = (el, names) => {
    if (names.includes("value") && !el.matches(`option, button, ${buttonInputs}, [type="radio"], [type="checkbox"]`))
      return null; // it may be what a person has typed
    const texts = names.map((name) => el.getAttribute(name));
    if (!texts.every((text) => text !== null && isStable(text))) return null;
    if (names.includes("name") && !names.includes("value") && isCounted(el.getAttribute("name"), "name")) return null;
    const conditions = names.map((name, i) => `[${name}="${texts[i].replace(/["\\]/g, "\\$&")}"]`);
    return { selector: tagOf(el) + conditions.join(""), texts };
  };

  const selectorAttributes = [
    ["name"],
    ["name", "value"],
    ["href"],
    ["placeholder"],
    ["title"],
    ["alt"],
    ["for"],
    ["value"],
  ];

  // testingAttributes are what others than this project's test id are called by.
  const testingAttributes = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];

  // withTestingAttribute selects elements with the values that el has of those attributes.
  const withTestingAttribute = (el) =>
    testingAttributes
      .filter((name) => name !== testIdAttribute && isStable(el.getAttribute(name)) && !isCounted(el.getAttribute(name), name))
      .map((name) => [name, el.getAttribute(name)])
      .map(([name, text]) => ({ selector: `[${name}="${text.replace(/["\\]/g, "\\$&")}"]`, texts: [text] }));

  // withClass selects elements with the tag of el and one of its classes that neither looks generated nor like a state.
  const withClass = (el) =>
    [...el.classList]
      .filter((name) => isStable(name) && /^[A-Za-z][A-Za-z_-]{3,}$/.test(name) && !isHash(name))
      .filter((name) => !/^(is|has)-|activ|select|open|hover|focus|disab|hidden|visib|valid|show/i.test(name))
      .map((name) => ({ selector: `${tagOf(el)}.${CSS.escape(name)}`, texts: [name] }));

  // isHash reports whether a class looks like one that a library made of its styles, such as css-kzvrql or kghHuY.
  const isHash = (name) => /^(css|sc|jss)-[^-]+$|^(?=(.*[a-z][A-Z]){2})[A-Za-z]{5,7}$/.test(name);

  // withIcon selects elements with the tag of el that hold the same icon.
  const withIcon = (el) =>
    [...el.querySelectorAll("i, svg, use, mat-icon, span[class]:empty")]
      .filter((icon) => icon.localName !== "span" || isFontIcon(icon))
      .slice(0, 3)
      .flatMap((icon) => [
        ...withTestingAttribute(icon),
        ...["data-icon", "data-mat-icon-name", "fonticon", "href"].map((name) => withAttributes(icon, [name])),
        ...(icon.localName === "mat-icon" ? [] : withClass(icon)), // its classes name no icon
        withDrawing(icon),
      ])
      .filter(Boolean)
      .map(({ selector, texts }) => ({ selector: `${tagOf(el)}:has(${selector})`, texts }));

  // isFontIcon reports whether an icon font draws a span, as in "pi pi-trash". The names of these fonts are short, as
  // those of badges and spinners are not, or have icon in them.
  const isFontIcon = ({ className, classList }) =>
    className.includes("icon") ||
    [...classList].some((font) => font.length <= 4 && [...classList].some((name) => name.startsWith(font + "-")));

  // withDrawing selects what an icon without a name draws; null if that is not a path.
  const withDrawing = (icon) => {
    const drawn = icon.querySelector("path")?.getAttribute("d")?.slice(0, 40);
    return drawn && /^[\w .,-]+$/.test(drawn) ? { selector: `path[d^="${drawn}"]`, texts: [] } : null;
  };

  const isOnlyMatch = (el, selector) => {
    const found = queryAll(selector);
    return found.length === 1 && found[0] === el;
  };

  // pathTo selects el by its place in the page, below the nearest ancestor with an id that looks stable if that is
  // enough. short is the shortest such path that matches only el, null when none does; one that would count is only the
  // id and the tag where no other element below that ancestor has the tag. whole is the whole path. counts says that
  // elements are counted in it.
  const pathTo = (el) => {
    let [short, selector, joint, counts] = [null, "", "", false];
    const texts = [];
    for (let e = el; e; ) {
      let step = tagOf(e);
      const peers = [...(e.parentNode?.children ?? [e])].filter((other) => other.localName === e.localName);
      if (hasStableID(e)) {
        step = "#" + CSS.escape(e.id);
        texts.push(e.id);
      } else if (peers.length > 1) {
        step += `:nth-of-type(${peers.indexOf(e) + 1})`;
        counts = true;
      }
      selector = step + joint + selector;
      if (!short && isOnlyMatch(el, selector)) short = { selector, texts: [...texts], counts };
      const only = `${step} ${tagOf(el)}`;
      const isEnough = short?.counts && hasStableID(e) && isOnlyMatch(el, only);
      if (isEnough) short = { selector: only, texts: [e.id], counts: false };
      joint = e.parentElement ? " > " : " ";
      e = outerOf(e);
    }
    return { short, whole: { selector, texts, counts } };
  };

  // outerOf is the element around el, or the host of its shadow root.
  const outerOf = (el) => el.parentElement ?? el.getRootNode().host;

  // cardOf is the innermost element around el that holds a heading: ways to select it and others like it, and the text
  // of the heading.
  const cardOf = (el) => {
    for (let card = outerOf(el); card && card !== document.body; card = outerOf(card)) {
      const heading = [...card.querySelectorAll("h1, h2, h3, h4, h5, h6, [role=heading]")].find((h) => !h.contains(el));
      if (!heading) continue;
      let path = "";
      for (let e = heading; e !== card; e = e.parentElement) path = ` > ${tagOf(e)}${path}`;
      return { heading: textOf(heading), selectors: withContent(card, path) };
    }
    return { heading: "", selectors: [] };
  };

  // withContent selects elements with the tag of el that have a class of it, or something at a path in them, if any: the
  // last ones hold no other such element.
  const withContent = (el, path) => {
    const tag = tagOf(el);
    const selectors = path ? [`${tag}:has(${path.trim()})`, `${tag}:has(${path.trim()}):not(:has(${tag}${path}))`] : [tag];
    return [...withClass(el), ...selectors.map((selector) => ({ selector, texts: [] }))];
  };

  // withRecord selects the innermost element around el that has the text of its record, and others like it.
  const withRecord = (el, text) => {
    let path = "";
    for (let e = el; text && e && e !== document.body; e = outerOf(e)) {
      if (e !== el && textOf(e).includes(text)) return withContent(e, path);
      path = e.parentElement ? ` > ${tagOf(e)}${path}` : "";
    }
    return [];
  };

  // textsIn are texts in an element, but not in except, in controls or in editors: those of elements that a snapshot may join.
  const textsIn = (el, except) => {
    const isText = (e) =>
      !e.childElementCount &&
      !except?.contains(e) &&
      !e.isContentEditable &&
      !e.closest("button, select, textarea, [role=button]");
    return [...(el?.querySelectorAll("*") ?? [])].filter(isText).map(textOf).filter(Boolean).slice(0, maxTexts);
  };

  const maxTexts = 6;

  // mark makes el the element of a mark, and returns what selectors for it can be made of. record is the text by which
  // its record is known.
  const mark = (el, number, record) => {
    marks.set(number, new WeakRef(el));
    const onlyEl = (css) => css && isOnlyMatch(el, css.selector);
    const { short, whole } = pathTo(el);
    const [classes, icons] = [withClass(el), withIcon(el)];
    return {
      testID: el.getAttribute(testIdAttribute) ?? "",
      countedTestID: isCounted(el.getAttribute(testIdAttribute) ?? "", testIdAttribute),
      id: [...withTestingAttribute(el), ...(hasStableID(el) ? [withID(el)] : [])].filter(onlyEl),
      css: [
        ...selectorAttributes.map((names) => withAttributes(el, names)),
        ...classes,
        withAttributes(el, ["type"]),
      ].filter(onlyEl),
      icon: icons.filter(onlyEl),
      position: short ? [short] : [],
      path: whole,
      card: cardOf(el),
      record: withRecord(el, record),
      texts: textsIn(el),
      row: textsIn(closest(el, rows), el),
      kind: [...icons, ...classes, { selector: tagOf(el), texts: [] }],
    };
  };

  const isMarkedConnected = (number) => Boolean(marked(number)?.isConnected);

  // placeOfMarked is how many elements a spec finds, and the place of the element of a mark among them, or -1.
  const placeOfMarked = (spec, number) => {
    const found = find(spec);
    return { count: found.length, index: found.indexOf(marked(number)) };
  };

  // --------------------------------------------------------------------------------------------------- reading the page

  // findText waits until a text is visible, for at most wait milliseconds; query is as in visibleTexts.
  const findText = async (query, wait) => {
    const end = performance.now() + wait;
    for (let tries = 1; ; tries++) {
      const began = performance.now();
      const { all, seen } = remembering(() => {
        const { all, visible } = visibleTexts(query);
        return { all, seen: visible.length && seenText(visible, query) };
      });
      if (seen) return { ready: true, tries, ...seen };
      const now = performance.now();
      if (now >= end) return { ...remembering(() => textMissing(query, all)), count: all.length, tries };
      do await nextFrame();
      while (performance.now() < now + 4 * (now - began));
    }
  };

  // seenText describes the elements that show a text, and the best of the first ones: one that shows nothing else, or that
  // has it as whole words.
  const seenText = (all, query) => {
    const shows = all.length;
    const visible = all.slice(0, 1000);
    if (query.pattern !== undefined) {
      const texts = visible.map((el) => shownTexts(el).findLast((text) => compares(text, query)));
      return { shows, shown: describe(visible[0]), text: texts[0], inWord: texts.every((text) => cutsWord(text, query)) };
    }
    const needle = normalize(query.text);
    const isSpaced = (el) => !el.firstElementChild || includesIgnoringCase(spacedText(el), needle);
    const isWhole = (el) => isWholeText(el, needle);
    const whole = visible.find((el) => isWhole(el) && isSpaced(el)) ?? visible.find((el) => el.firstElementChild && isWhole(el));
    const words = whole ?? visible.find((el) => hasWords(spacedText(el), needle));
    const el = words ?? visible.find(isSpaced) ?? visible[0];
    const seen = { shows, shown: describe(el) + (shows > 1 ? inPlace(el) : "") };
    if (!isSpaced(el)) return { ...seen, unspaced: spacedText(el) };
    return whole ? seen : { ...seen, textPart: true, inWord: !words, text: textWith(el, needle) };
  };

  const isUnspaced = (text) =>
    /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u.test(text);

  // inPlace says in which row, list item or article an element is, by the text there; empty when it is in none.
  const inPlace = (el) => {
    const place = closest(el, rows);
    return place && place !== el ? ` in ${place.localName} "${start(spacedText(place))}"` : "";
  };

  // hasWords reports whether a text has needle as whole words and numbers: "Paid" is not a word in "Unpaid", nor "1" a
  // number in "10" or "1.50". Scripts that write no spaces between words have no such words.
  const hasWords = (text, needle) => {
    if (isUnspaced(needle)) return true;
    const before = /^\p{N}/u.test(needle) ? "(?<![\\p{L}\\p{N}]|\\p{N}[.,])" : /^\p{L}/u.test(needle) ? "(?<![\\p{L}\\p{N}])" : "";
    const after = /\p{N}$/u.test(needle) ? "(?![\\p{L}\\p{N}]|[.,]\\p{N})" : /\p{L}$/u.test(needle) ? "(?![\\p{L}\\p{N}])" : "";
    const literal = needle.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return new RegExp(before + literal + after, "iu").test(text);
  };

  // ariaHidden is an element that shows a text as a whole and is hidden from the accessibility tree only, in words; empty
  // when none is.
  const ariaHidden = (text) => {
    const found = visibleTexts({ text, exact: true }).visible.find((el) => closest(el, "[aria-hidden=true]"));
    return found ? describe(found) : "";
  };

  // textMissing says why a text is not visible.
  const textMissing = (query, matches) => {
    if (matches.length) {
      const reason = invisibleReason(matches[0]) || "a part of it is hidden";
      return { found: describe(matches[0]), reason, held: attached };
    }
    if (query.pattern !== undefined) return {};
    const needle = normalize(query.text);
    const part = query.exact && visibleTexts({ text: needle }).visible[0];
    if (part) return { missing: `"${needle}" is only a part of the text of ${describe(part)}` };
    const isPlaceholder = (el) =>
      includesIgnoringCase(normalize(el.getAttribute("placeholder") ?? ""), needle) && isVisible(el);
    const placeholder =
      needle &&
      roots()
        .flatMap((root) => [...root.querySelectorAll("[placeholder]")])
        .find(isPlaceholder);
    if (placeholder)
      return { missing: `"${needle}" is only a placeholder; verify the element instead: ${describe(placeholder)}` };
    const named = (el) => attributeNames(el).some((name) => includesIgnoringCase(name, needle)) && isVisible(el);
    const control = needle && allControls().find(named);
    return control
      ? { missing: `"${needle}" is not a text that is shown, only the name of an element; verify that instead: ${describe(control)}` }
      : {};
  };

  // ------------------------------------------------------------------------------------------------------------- pictures

  const boxOf = (el) => {
    const { x, y, width, height } = el.getBoundingClientRect();
    return { x, y, width, height };
  };

  // boxes are those of all elements of a spec that have one.
  const boxes = (spec) => find(spec).map(boxOf).filter(({ width, height }) => width && height);

  // contentBox is the box of what a frame shows, in the viewport of the page around it.
  const contentBox = (el) => {
    const { x, y, width, height } = boxOf(el);
    const style = getComputedStyle(el);
    const left = el.clientLeft + parseFloat(style.paddingLeft);
    const top = el.clientTop + parseFloat(style.paddingTop);
    return { x: x + left, y: y + top, width, height };
  };

  const viewport = () => ({
    width: innerWidth,
    height: innerHeight,
    pageWidth: Math.max(document.documentElement.scrollWidth, innerWidth),
    pageHeight: Math.max(document.documentElement.scrollHeight, innerHeight),
    scrollX,
    scrollY,
    scale: visualViewport.scale,
    offsetX: visualViewport.offsetLeft,
    offsetY: visualViewport.offsetTop,
    windowWidth: visualViewport.scale === 1 ? innerWidth : Math.round(visualViewport.width * visualViewport.scale),
    windowHeight: visualViewport.scale === 1 ? innerHeight : Math.round(visualViewport.height * visualViewport.scale),
    pixelRatio: devicePixelRatio,
  });

  // While pictures are taken, animations that end are at their end, endless ones at their beginning, and no caret is
  // shown. endless are those that resumeAnimations starts again.
  let caretless;
  const endless = new Set();

  const stopAnimations = () => {
    if (!caretless) {
      caretless = new CSSStyleSheet();
      caretless.replaceSync("* { caret-color: transparent !important }");
    }
    for (const root of roots())
      if (!root.adoptedStyleSheets.includes(caretless)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, caretless];
    for (const animation of document.getAnimations()) {
      if (animation.playState !== "running") continue;
      if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) {
        animation.finish();
        continue;
      }
      animation.cancel();
      endless.add(animation);
    }
  };

  const resumeAnimations = () => {
    for (const root of roots())
      root.adoptedStyleSheets = root.adoptedStyleSheets.filter((sheet) => sheet !== caretless);
    for (const animation of endless) animation.play();
    endless.clear();
  };

  // dialogs are what a person looks at first: what is on top of the page, and messages.
  const dialogs = "dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true], [popover], [role=alert], [role=status]";

  // complaint is what the page asks a person to correct: a field that the browser refuses, else its first alerts. Browsers
  // ignore what they do not know in :is().
  const complaint = () => {
    const all = (selector) => roots().flatMap((root) => [...root.querySelectorAll(selector)]);
    const refused = all(":is(input, select, textarea):is(:user-invalid)").find(isVisible);
    if (refused) {
      const [label] = refused.labels;
      return `${(label ? textOf(label) : nameOf(refused)) || refused.name}: ${refused.validationMessage}`;
    }
    const alerts = all("[role=alert]").filter((el) => !isHiddenByStyle(el));
    return [...new Set(alerts.map(spacedText))].filter(Boolean).slice(0, 2).join(" / ");
  };

  // suggestions are test ids, ids, selectors, or short visible texts, one of which may have been meant; those in a dialog
  // come first, the others in the order of the page. wanted is what was not found.
  const suggestions = (kind, wanted) => {
    const found = new Set();
    const add = (text) => text && text.length <= 80 && found.size < 300 && found.add(text);
    const pages = roots();
    const onTop = pages.flatMap((root) => [...root.querySelectorAll(dialogs)]).filter(isVisible);
    for (const root of [...onTop, ...pages]) {
      if (kind === "css")
        for (const [part] of wanted.matchAll(/[.#][\w-]+/g))
          for (const el of [...root.querySelectorAll(part)].slice(0, 5)) add(el.localName + part);
      if (kind === "testId" || kind === "id")
        for (const el of root.querySelectorAll(`[${testIdAttribute}]`)) add(el.getAttribute(testIdAttribute));
      if (kind === "id" || kind === "css")
        for (const el of root.querySelectorAll("[id]")) add((kind === "css" ? "#" : "") + el.getAttribute("id"));
      if (kind !== "text") continue;
      for (const el of root.querySelectorAll(controls)) if (found.size < 150 && isVisible(el)) add(nameOf(el));
      for (const el of root.querySelectorAll("*")) {
        const hasText =
          found.size < 300 &&
          [...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && normalize(node.nodeValue));
        if (hasText && isVisible(el)) add(textOf(el));
      }
    }
    return [...found];
  };

  // The document is watched while somebody waits for a change of it. changes counts what may have changed it; it begins
  // at a random number, so that two documents do not have the same.
  let changes = Math.floor(Math.random() * 1e9);
  let watchedUntil = 0; // performance.now; 0 when the document is not watched
  let watched = 0; // how many roots are
  const waiting = new Set();
  const changeEvents =
    "input change focusin focusout toggle load error scroll resize transitionend animationend hashchange popstate".split(" ");

  const noteChange = () => {
    changes++;
    for (const done of waiting) done();
  };

  const observer = new MutationObserver(noteChange);

  // watch watches the document and its open shadow roots for some milliseconds.
  const watch = (time) => {
    const all = roots();
    if (!watchedUntil || all.length !== watched) changes++; // nobody knows what has changed since the last time
    if (!watchedUntil) after(time, stopWatching);
    watched = all.length;
    watchedUntil = Math.max(watchedUntil, performance.now() + time);
    for (const root of all)
      observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const type of changeEvents) addEventListener(type, noteChange, { capture: true, passive: true });
  };

  const stopWatching = () => {
    const left = watchedUntil - performance.now();
    if (left > 0 || waiting.size) return void after(Math.max(left, 100), stopWatching);
    watchedUntil = 0;
    observer.disconnect();
    for (const type of changeEvents) removeEventListener(type, noteChange, { capture: true });
  };

  // waitForChange waits until changes is not seen, and for at most limit milliseconds. It returns changes.
  const waitForChange = async (seen, limit) => {
    watch(2000);
    if (changes === seen) {
      let done;
      const changed = new Promise((resolve) => (done = resolve));
      const timer = after(limit, done);
      waiting.add(done);
      await changed;
      waiting.delete(done);
      clearTimeout(timer);
    }
    return changes;
  };

  // countChanges returns changes, and watches the document for some milliseconds.
  const countChanges = (time) => {
    watch(time);
    if (observer.takeRecords().length > 0) noteChange();
    return changes;
  };

  // layOut makes the browser lay out what it skips inside an element that is far from view.
  const layOut = (el) => {
    const range = document.createRange();
    range.selectNodeContents(el);
    range.getBoundingClientRect();
  };

  // indeterminateBoxes are the check boxes that a script has made indeterminate.
  const indeterminateBoxes = () =>
    roots()
      .flatMap((root) => [...root.querySelectorAll("input")])
      .filter((el) => el.indeterminate);

  globalThis.trailblaze = {
    document,
    after,
    observe,
    apply,
    inputResult,
    pointInParent,
    findText,
    ariaHidden,
    suggestions,
    focused,
    // timersRan ends when the timers that are due have run, and those without a delay that these have started.
    timersRan: () =>
      new Promise((done) => (hasScripts ? setTimeout(() => setTimeout(() => setTimeout(done))) : done())),
    boxes,
    matches,
    contentBox,
    viewport,
    // focus returns the element with the focus; null if none has it.
    focus: () => {
      const el = activeElement();
      return el === document.body || el === document.documentElement ? null : el;
    },
    // isContentSelected reports whether all that the field with the focus holds is selected.
    isContentSelected: () => {
      const el = activeElement();
      const content = normalize(el.value ?? el.innerText ?? "");
      const { selectionStart: start, selectionEnd: end } = el;
      const selected = start == null ? getSelection().toString() : el.value.slice(start, end);
      return content !== "" && normalize(selected) === content;
    },
    stopAnimations,
    resumeAnimations,
    waitForChange,
    countChanges,
    layOut,
    indeterminateBoxes,
    toggled,
    readyElement,
    expectDrag,
    dragStarted,
    all,
    mark,
    unmark: (number) => marks.delete(number),
    isMarkedConnected,
    placeOfMarked,
    root,
    isVisible,
    shownText,
    normalize,
    controls,
    first: (spec) => find(spec)[0] ?? null,
    location: () => ({ url: location.href, title: document.title }),
    complaint,
    isFrameWithin,
    isParsing: () => document.readyState === "loading",
  };
})();
