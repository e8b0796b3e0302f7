// Attempts of a web page to reach a port of this machine, in a browser. `given`, which the test writes before this, has the address
// of the target, that of an unprotected server, the body of a callback that is valid now, and the page to open next.
const { page, addresses, body, redirect, report, frame, next } = given;

const patience = (promise) => Promise.race([promise, new Promise((_, reject) => setTimeout(reject, 20000, new Error("no answer")))]);

// learnt is what the page gets to know of an answer.
async function learnt(url, options) {
  const response = await fetch(url, { method: "POST", body, ...options });
  return response.type === "opaque" ? "" : `${response.status} ${await response.text()}`;
}

function xhr(url, type) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.onload = () => resolve(`${request.status} ${request.responseText}`);
    request.onerror = reject;
    request.open("POST", url);
    request.setRequestHeader("Content-Type", type);
    request.send(body);
  });
}

// element adds something that loads a URL.
function element(tag, properties) {
  return new Promise((resolve, reject) => {
    document.documentElement.append(Object.assign(document.createElement(tag), { onload: () => resolve(`${tag} loaded`), onerror: reject, ...properties }));
  });
}

// framed is what can be read in a frame when show has made it load something.
async function framed(show) {
  const frame = Object.assign(document.createElement("iframe"), { name: `frame${Math.random()}` });
  document.documentElement.append(frame);
  await new Promise((resolve) => {
    frame.onload = resolve;
    show(frame);
  });
  return frame.contentDocument.body.innerText;
}

// form makes a body that is JSON to the last character, as far as the encoding lets it.
function form(action, enctype) {
  return framed((frame) => {
    const form = Object.assign(document.createElement("form"), { action, enctype, method: "POST", target: frame.name });
    const [name, value] = [body.slice(0, -2) + ',"ignored":"', '"}}'];
    form.append(Object.assign(document.createElement("input"), { name, value }));
    document.documentElement.append(form);
    form.submit();
  });
}

const json = { headers: { "Content-Type": "application/json" } };
const attempts = {
  "fetch json": (url) => learnt(url, json),
  "fetch text": (url) => learnt(url, { headers: { "Content-Type": "text/plain" } }),
  "fetch json, no-cors": (url) => learnt(url, { ...json, mode: "no-cors" }),
  "fetch text, no-cors": (url) => learnt(url, { mode: "no-cors" }),
  "fetch blob, no-cors": (url) => learnt(url, { mode: "no-cors", body: new Blob([body], { type: "application/json" }) }),
  "fetch no referrer": (url) => learnt(url, { ...json, referrerPolicy: "no-referrer" }),
  "fetch credentials": (url) => learnt(url, { ...json, credentials: "include" }),
  "fetch redirected": (url) => learnt(redirect + encodeURIComponent(url), { mode: "no-cors" }),
  "fetch GET": (url) => learnt(url, { method: "GET", body: undefined }),
  beacon: (url) => void navigator.sendBeacon(url, new Blob([body], { type: "application/json" })),
  "beacon text": (url) => void navigator.sendBeacon(url, body),
  "xhr json": (url) => xhr(url, "application/json"),
  "xhr text": (url) => xhr(url, "text/plain"),
  "form text": (url) => form(url, "text/plain"),
  "form urlencoded": (url) => form(url, "application/x-www-form-urlencoded"),
  "form multipart": (url) => form(url, "multipart/form-data"),
  "form redirected": (url) => form(redirect + encodeURIComponent(url), "text/plain"),
  img: (src) => element("img", { src }),
  script: (src) => element("script", { src }),
  stylesheet: (href) => element("link", { rel: "stylesheet", href }),
  iframe: (url) => framed((frame) => (frame.src = url)),
  websocket: (url) => new Promise((resolve, reject) => Object.assign(new WebSocket(url.replace("http", "ws")), { onopen: () => resolve("open"), onerror: reject })),
  eventsource: (url) => new Promise((resolve, reject) => Object.assign(new EventSource(url), { onopen: () => resolve("open"), onerror: reject })),
};

async function attack() {
  const found = {};
  for (const [who, address] of Object.entries(addresses)) {
    found[who] = {};
    await Promise.all(
      Object.entries(attempts).map(async ([name, attempt]) => {
        try {
          found[who][name] = (await patience(attempt(`${address}?${encodeURIComponent(`${page} ${name}`)}`))) ?? "";
        } catch {
          found[who][name] = "";
        }
      }),
    );
  }
  if (frame) {
    const finished = new Promise((resolve) => addEventListener("message", resolve));
    element("iframe", { src: frame });
    await finished;
  }
  await fetch(report, { method: "POST", mode: "no-cors", body: JSON.stringify({ page, found }) });
  if (parent !== window) parent.postMessage("finished", "*");
  if (next) location = next;
}

addEventListener("load", attack);
