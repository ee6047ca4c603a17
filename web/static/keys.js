// Shortcuts for people who work with the keyboard. They are listed in a dialog, and can be switched off there.
"use strict";
(() => {
  const help = document.getElementById("keys");
  const open = document.getElementById("keys-open");
  const on = document.getElementById("keys-on");
  if (!help || !open || !on) return;

  const name = "onefold.keys";
  const remembered = () => { try { return localStorage.getItem(name); } catch { return null; } };
  on.checked = remembered() !== "off";
  on.addEventListener("change", () => { try { localStorage.setItem(name, on.checked ? "on" : "off"); } catch { /* for this page only */ } });
  window.addEventListener("storage", (event) => { if (event.key === name) on.checked = event.newValue !== "off"; });
  open.hidden = false;
  open.addEventListener("click", () => help.showModal());

  const typing = (node) => node instanceof HTMLElement && (node.isContentEditable ||
    node.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file])"));
  const rows = () => [...document.querySelectorAll('main [id^="row-"], main table.items tbody tr')];
  const link = (row) => row.querySelector("th a, td a, a");

  function move(by) {
    const all = rows().filter(link);
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const to = at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[at + by];
    link(to ?? all[at] ?? document.body)?.focus();
    to?.scrollIntoView({ block: "nearest" });
  }

  function search() {
    const field = document.querySelector("form[role=search] input[type=search]");
    if (!field) location.assign("/#search");
    else { field.focus(); field.select(); }
  }
  if (location.hash === "#search") search();

  let first = "", since = 0; // of two keys, one after the other
  document.addEventListener("keydown", (event) => {
    if (!on.checked || event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const before = event.timeStamp - since < 1500 ? first : "";
    [first, since] = [event.key, event.timeStamp];
    if (before === "g" && event.key === "l") location.assign("/");
    else if (event.key === "/") search();
    else if (event.key === "?") help.showModal();
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "x") document.activeElement?.closest('[id^="row-"], table.items tbody tr')?.querySelector("input[type=checkbox]")?.click();
    else return;
    event.preventDefault();
  });
})();
