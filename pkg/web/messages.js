// What a document of a live session shows for a short time: the texts of live regions, and elements that are added and
// removed again within some seconds. It runs in the world of page.js, and calls the binding trailblazeMessage with each
// text that is gone, and with those of live regions that have come: a document that is left cannot tell that they are
// gone. It looks at the document only after mutations.
(() => {
  "use strict";
  if (globalThis.trailblazeMessages === document) return;
  globalThis.trailblazeMessages = document;
  const { after, isVisible, shownText, normalize, controls } = globalThis.trailblaze;

  const liveRegions = "[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive], output";
  // What changes all the time, or opens and closes because of an action, is not a message.
  const noMessages =
    "ul, ol, table, select, svg, head, script, style, template, noscript, [contenteditable], [aria-hidden=true], [role=textbox], " +
    "[role=menu], [role=menubar], [role=listbox], [role=list], [role=grid], [role=tree], [role=table], [role=feed]";
  const soon = 10_000; // milliseconds after which an element that was added is not a message any more
  const shortest = 200; // milliseconds that an element must be shown
  const [maxRegions, maxAdded, maxText, maxElements] = [50, 30, 300, 200];

  const regions = new Set();
  const added = new Map(); // elements, with when they were added and what they show
  let shown = new Map(); // texts, with where and since when
  let [planned, pause, lookedAt] = [false, 50, 0];

  const isMessage = (el) =>
    el.textContent.length <= maxText &&
    el.querySelectorAll(controls).length <= 2 &&
    !el.querySelector("input, textarea, select") &&
    !el.matches(controls) &&
    !el.closest(`${noMessages}, ${liveRegions}`) &&
    !el.querySelector(liveRegions);

  const hasOwnText = (el) =>
    [...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && normalize(node.nodeValue));

  // textIn is what an element shows. One without a size may have children that are placed elsewhere.
  const textIn = (el) => (hasOwnText(el) && !isVisible(el) ? "" : shownText(el));

  // textsIn are the texts in a live region: those of its items if it has several.
  const textsIn = (region) => {
    if (region.textContent.length > 4 * maxText) return [];
    let el = region;
    while (el.children.length === 1 && !hasOwnText(el)) el = el.firstElementChild;
    const items = el.children.length > 1 && !hasOwnText(el) ? [...el.children] : [el];
    return items.map(textIn).filter((text) => text && text.length <= maxText);
  };

  const roleOf = (el) => {
    const role = el.getAttribute("role") ?? (el.localName === "output" ? "status" : "");
    return /^[a-z]{3,20}$/.test(role) && role !== "presentation" && role !== "none" ? role : "text";
  };

  const tell = (text, message, gone) => {
    const shownMs = Math.round(performance.now() - message.since);
    globalThis.trailblazeMessage?.(JSON.stringify({ role: message.role, text, shownMs, gone }));
  };

  const look = () => {
    planned = false;
    const now = (lookedAt = performance.now());
    const before = shown;
    shown = new Map();
    const see = (text, role, region) => {
      const message = before.get(text) ?? shown.get(text) ?? { role, region, since: now };
      if (region && !before.has(text) && !shown.has(text)) tell(text, message, false);
      shown.set(text, message);
    };
    for (const region of regions) {
      if (!region.isConnected) regions.delete(region);
      else for (const text of textsIn(region)) see(text, roleOf(region), true);
    }
    for (const [el, state] of added) {
      if (now - state.at > soon) before.delete(state.text);
      if (!el.isConnected || now - state.at > soon) {
        added.delete(el);
        continue;
      }
      state.text = isMessage(el) ? textIn(el) : "";
      if (state.text) see(state.text, roleOf(el), false);
    }
    let all;
    for (const [text, message] of before) {
      if (shown.has(text)) continue;
      all ??= message.region ? undefined : normalize(document.body?.textContent ?? "");
      if (message.region || (now - message.since >= shortest && !all.includes(text))) tell(text, message, true);
    }
    pause = Math.min(Math.max(50, 4 * (performance.now() - now)), 200);
  };

  const lookSoon = () => {
    if (planned || !(regions.size || added.size || shown.size)) return;
    planned = true;
    after(Math.max(0, lookedAt + pause - performance.now()), look);
  };

  // What shows and hides a live region is watched there and around it only: pages move other elements all the time.
  const styles = new MutationObserver(() => lookSoon());
  const shows = { attributes: true, attributeFilter: ["class", "style", "hidden", "open"] };

  const addRegion = (region) => {
    if (regions.has(region) || regions.size >= maxRegions) return;
    regions.add(region);
    styles.observe(region, { ...shows, subtree: true });
    for (let el = region.parentElement ?? region.getRootNode().host; el; el = el.parentElement ?? el.getRootNode().host)
      if (!regions.has(el)) styles.observe(el, shows);
  };

  // find finds the live regions in a part of the document, and the open shadow roots.
  const find = (part) => {
    const own = part.nodeType === Node.ELEMENT_NODE ? [part] : [];
    for (const el of [...own, ...part.querySelectorAll("*")]) {
      if (el.matches(liveRegions)) addRegion(el);
      if (el.shadowRoot) watch(el.shadowRoot);
    }
  };

  const observer = new MutationObserver((records) => {
    const elements = [];
    for (const record of records) {
      if (record.type === "attributes") find(record.target);
      if (record.type !== "childList") continue;
      for (const node of record.addedNodes) if (node.nodeType === Node.ELEMENT_NODE) elements.push(node);
    }
    if (elements.length > maxElements) find(document);
    else for (const el of elements) if (el.isConnected) find(el);
    if (elements.length <= maxAdded) // more are a part of the page
      for (const el of elements) added.set(el, { at: performance.now(), text: "" });
    for (const el of added.keys()) if (added.size > maxAdded) added.delete(el);
    lookSoon();
  });

  const watch = (root) => {
    observer.observe(root, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ["role", "aria-live"],
    });
    find(root);
  };

  const start = () => {
    watch(document);
    lookSoon();
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start, { once: true });
  else start();
})();
