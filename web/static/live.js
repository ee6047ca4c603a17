// A page that is open keeps up with the data: it hears that something has changed and fetches itself again. What somebody
// types, ticks or reads is not moved: then a quiet mark says that newer data is there.
"use strict";
(() => {
  const main = document.getElementById("content");
  const mark = document.getElementById("newer");
  const said = document.getElementById("said");
  if (!main || !mark || !said) return;
  const [text, load, signIn] = [mark.querySelector(".says"), mark.querySelector("button"), mark.querySelector("a")];

  // A screen reader says what is put here; the pause lets it see the change.
  function announce(words) {
    said.textContent = "";
    setTimeout(() => { said.textContent = words; }, 100);
  }
  const outcome = main.querySelector(".notice, .problem");
  if (outcome) announce(outcome.innerText.trim());

  const here = () => main.querySelector("[data-live]");
  const kind = () => here()?.dataset.live ?? (main.querySelector("[data-count]") ? "list" : "");
  if (!kind()) return;
  const item = kind() === "item" ? here().dataset.item ?? location.pathname.split("/")[2] : "";
  let known = item ? here().dataset.version ?? "" : document.body.dataset.mark ?? "";

  // Hearing: a stream of events while the page is seen. Cut off, it is tried again, ever later.
  const shortest = 1000, longest = 60000, silence = 45000;
  let stream = null, again = 0, wait = shortest, over = false;

  async function listen() {
    clearTimeout(again);
    if (stream || over || document.hidden || !kind() || kind() === "figures") return;
    const mine = stream = new AbortController();
    const began = Date.now();
    let busy = false, watch = 0;
    try {
      const address = new URL("/live", location.origin);
      if (item) address.searchParams.set("item", item);
      address.searchParams.set("knows", known);
      const answer = await fetch(address, { headers: { Accept: "text/event-stream" }, redirect: "manual", cache: "no-store", signal: mine.signal });
      if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) return signedOut();
      busy = answer.status === 429;
      if (answer.ok) {
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = ""; ;) {
          clearTimeout(watch);
          watch = setTimeout(() => mine.abort("silence"), silence);
          const { value, done } = await reader.read();
          if (done) break;
          const events = (rest + value).split("\n\n");
          rest = events.pop();
          for (const event of events) if (event.startsWith("data: ")) hear(JSON.parse(event.slice(6)));
        }
      }
    } catch { /* cut off */ } finally {
      clearTimeout(watch);
      if (stream === mine) stream = null;
    }
    if (over || stream || mine.signal.reason === "unseen") return;
    if (Date.now() - began > 10000) wait = shortest;
    again = setTimeout(listen, (busy ? longest : wait) * (0.5 + Math.random()));
    wait = Math.min(2 * wait, longest);
  }

  function signedOut() {
    over = true;
    clearTimeout(due);
    show(mark.dataset.out, signIn);
  }

  let unseen = 0;
  const hush = () => stream?.abort("unseen");
  document.addEventListener("visibilitychange", () => {
    clearTimeout(unseen);
    if (document.hidden) unseen = setTimeout(hush, 10000); // browsers have few connections
    else { wait = shortest; listen(); look(); }
  });
  window.addEventListener("pagehide", hush);
  window.addEventListener("pageshow", (event) => { if (event.persisted) listen(); });

  // Fetching: one at a time, and the slower the server the seldomer.
  let news = null, due = 0, fetching = false, rest = shortest, asked = false, last = 0;

  function hear(event) {
    if (!kind()) return;
    known = event.state;
    news = { ...event, say: event.say || news?.say, colleague: event.colleague || news?.colleague };
    plan(0);
  }

  function plan(least) {
    if (due || fetching || over) return;
    due = setTimeout(fetchPage, Math.max(least, rest));
  }

  // look is for pages that change while they are not told.
  function look() {
    if (document.hidden) return;
    if (kind() === "bulk") plan(2000);
    if (kind() === "figures") plan(30000 - (performance.now() - last)); // they are added up no more often
  }

  async function fetchPage() {
    clearTimeout(due);
    [due, fetching] = [0, true];
    const [heard, force, began] = [news, asked, performance.now()];
    [news, asked, last] = [null, false, began];
    let failed = false;
    try {
      const answer = await fetch(location.href, { headers: { "Onefold-Live": "1" }, cache: "no-store" });
      if (answer.status === 401 || answer.redirected && new URL(answer.url).pathname.startsWith("/login")) return signedOut();
      if (answer.ok) update(new DOMParser().parseFromString(await answer.text(), "text/html"), heard ?? {}, force);
      else if (answer.status === 403 || answer.status === 404) { over = true; hush(); show(mark.dataset.gone); } else failed = true;
    } catch { failed = true; } finally {
      const took = performance.now() - began;
      rest = Math.min(Math.max(failed ? 2 * rest : shortest, 10 * took), 30000);
      fetching = false;
    }
    if (failed) [news, asked] = [news ?? heard, asked || force];
    if (news || asked || failed) plan(0);
    look();
  }

  load.addEventListener("click", () => {
    asked = true;
    [rest] = [0];
    clearTimeout(due);
    due = 0;
    main.tabIndex = -1;
    main.focus({ preventScroll: true });
    plan(0);
  });

  // Showing.
  let fade = 0;
  function show(words, button) {
    clearTimeout(fade);
    const before = mark.hidden || text.textContent !== words;
    [load.hidden, signIn.hidden] = [button !== load, button !== signIn];
    signIn.href = "/login?next=" + encodeURIComponent(location.pathname + location.search);
    text.textContent = words;
    mark.hidden = false;
    if (before) announce(words);
    if (!button && !over) fade = setTimeout(() => { mark.hidden = true; }, 20000);
  }

  function update(fresh, heard, force) {
    const now = fresh.getElementById("content");
    if (!now) return;
    document.body.dataset.mark = fresh.body.dataset.mark ?? "";
    pour(document.getElementById("alerts"), fresh.getElementById("alerts"));
    if (force) {
      replace(now, fresh);
      mark.hidden = true;
      return announce(heard.say || mark.dataset.updated);
    }
    if (kind() === "list" && !fills(now)) return updateList(now);
    if (kind() === "figures") return updateFigures(now, fresh);
    if (busy(main)) return show(heard.say || mark.dataset.newer, load);
    const [before, was] = [main.innerText, kind()];
    replace(now, fresh);
    if (main.innerText === before) { if (was === "bulk") rest = Math.min(1.5 * rest, 15000); return; }
    if (heard.colleague) show(heard.say);
    else if (mark.hidden || !load.hidden) mark.hidden = true;
    if (!kind()) hush(); // it is done
    const status = main.querySelector(".title .badge")?.innerText;
    if (!heard.colleague && kind() !== "bulk") announce(heard.say || was === "bulk" && status || mark.dataset.updated);
  }

  // fills tells whether a list without a row takes in what comes: nobody reads it yet.
  function fills(now) {
    return here()?.dataset.fills !== undefined && !main.querySelector('[id^="row-"]') && now.querySelector('[id^="row-"]') && !busy(main);
  }

  // updateFigures changes the numbers and keeps what is being read where it is, also if a table above it grows. It says
  // nothing: it comes again and again. What is marked to be copied is left alone until the next time.
  function updateFigures(now, fresh) {
    const marked = document.getSelection();
    if (!marked.isCollapsed && main.contains(marked.anchorNode)) return;
    const read = [...main.querySelectorAll("[data-live] h2, [data-live] summary, [data-live] tr")].find((part) => part.getBoundingClientRect().top >= 0);
    const was = read?.getBoundingClientRect().top;
    replace(now, fresh);
    if (read?.isConnected) window.scrollBy(0, read.getBoundingClientRect().top - was);
    mark.hidden = true;
  }

  function updateList(now) {
    for (const count of main.querySelectorAll("[data-count]")) {
      const fresh = now.querySelector(`[data-count="${CSS.escape(count.dataset.count)}"]`);
      if (fresh && fresh.textContent !== count.textContent) count.textContent = fresh.textContent;
    }
    const rows = (root) => [...root.querySelectorAll('[id^="row-"]')];
    const [have, want] = [rows(main), rows(now)];
    let newer = have.map((r) => r.id).join() !== want.map((r) => r.id).join() || !have.length && texts(main) !== texts(now);
    const byId = new Map(want.map((r) => [r.id, r]));
    for (const row of have) {
      const fresh = byId.get(row.id);
      if (!fresh || fresh.dataset.version === row.dataset.version) continue;
      if (row.contains(document.activeElement) || busy(row)) newer = true;
      else pour(row, fresh);
    }
    if (newer) show(mark.dataset.newer, load);
    else mark.hidden = true;
  }

  // texts is what a table without rows of items says, but for its times, which grow by themselves.
  function texts(root) {
    return [...root.querySelectorAll("table td, table th")].filter((cell) => !cell.querySelector("time")).map((cell) => cell.textContent).join();
  }

  // replace puts the fresh content in the place of the old one, with focus, scroll, opened parts and typed text where they are.
  function replace(now, fresh) {
    const [focus, x, y] = [document.activeElement, window.scrollX, window.scrollY];
    const typed = [...main.querySelectorAll("input, textarea")].filter((c) => isTyped(c) && c.type !== "checkbox" && c.type !== "radio" && c.type !== "file");
    pour(main, now);
    document.title = fresh.title;
    if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
    window.scrollTo(x, y);
    for (const control of typed) if (!control.isConnected && control.value.trim()) keep(control.value);
  }

  // keep shows what was typed into a form that is not there any more.
  function keep(words) {
    const box = document.createElement("section");
    const [title, quote] = [document.createElement("h2"), document.createElement("blockquote")];
    [title.textContent, quote.textContent, box.className] = [mark.dataset.kept, words, "card kept"];
    box.append(title, quote);
    main.before(box);
  }

  function isTyped(c) {
    if (c.type === "hidden" || c.type === "submit" || c.type === "button" || c.tagName === "BUTTON") return false;
    if (c.type === "checkbox" || c.type === "radio") return c.checked !== c.defaultChecked;
    if (c.tagName === "SELECT") {
      const first = [...c.options].findIndex((o) => o.defaultSelected);
      return !c.multiple && c.selectedIndex !== Math.max(first, 0);
    }
    // What a refused form or an earlier session gave back is typed as well.
    return c.value !== c.defaultValue || c.value !== "" && (c.tagName === "TEXTAREA" || item !== "" && location.pathname !== `/items/${item}`);
  }

  function busy(part) {
    return [...part.querySelectorAll("input, textarea, select")].some(isTyped) || part.querySelector("form[data-sent], dialog[open]") !== null;
  }

  // key tells elements apart that must not turn into each other: a form, what opens it, a line of the history.
  function key(node) {
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    if (node.id) return "#" + node.id;
    switch (node.tagName) {
      case "FORM": return "form " + node.getAttribute("action");
      case "INPUT": case "TEXTAREA": case "SELECT": return "field " + node.name + " " + (node.type === "radio" || node.type === "checkbox" ? node.value : "");
      case "DETAILS": {
        const form = node.querySelector("form");
        return "details " + (form ? key(form) : node.querySelector("summary")?.textContent);
      }
      case "LI": return "li " + (node.querySelector(".no")?.textContent ?? node.querySelector("time")?.dateTime ?? "");
    }
    return "";
  }

  const alike = (a, b) => a.nodeName === b.nodeName && key(a) === key(b);

  // pour makes the old element like the fresh one and touches only what differs.
  function pour(old, fresh) {
    if (!old || !fresh || old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    const control = old.matches("input, textarea, select");
    if (control && isTyped(old)) return;
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !keeps(old, name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && !keeps(old, name)) old.setAttribute(name, value);
    pourAll(old, fresh);
    if (!control) return;
    if (old.type === "checkbox" || old.type === "radio") old.checked = fresh.checked;
    else if (old.type !== "file" && old.value !== fresh.value) old.value = fresh.value;
  }

  // What the person or a script has set on the page that is open.
  function keeps(old, name) {
    return name === "open" || name === "tabindex" && old === main || name === "data-sent" || name === "aria-busy";
  }

  function pourAll(old, fresh) {
    const wanted = new Map();
    const count = (k, n) => wanted.set(k, (wanted.get(k) ?? 0) + n);
    for (const node of fresh.childNodes) if (key(node)) count(key(node), 1);
    let at = old.firstChild;
    const drop = () => { const next = at.nextSibling; at.remove(); at = next; };
    for (const want of [...fresh.childNodes]) {
      while (at && key(at) && !wanted.get(key(at))) drop();
      let have = at;
      for (let n = 0; have && n < (key(want) ? Infinity : 3) && !alike(have, want); n++) have = have.nextSibling;
      if (have && !alike(have, want)) have = null;
      if (have && !key(want)) while (at !== have && !key(at)) drop();
      if (key(want)) count(key(want), -1);
      if (!have) old.insertBefore(document.importNode(want, true), at);
      else {
        if (have === at) at = at.nextSibling;
        else old.insertBefore(have, at);
        pour(have, want);
      }
    }
    while (at) drop();
  }

  listen();
  look();
})();
