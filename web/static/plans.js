// The form of a recurring invoice shows what it means while it is typed, and adds and removes lines in place. It asks the
// server for both: without this script the buttons do the same.
"use strict";
(() => {
  const form = document.querySelector("form[data-plan]");
  if (!form) return;
  form.querySelector(".plan-show")?.setAttribute("hidden", "");
  const pause = 400;
  let waits = 0, asked = null, spoken = "";

  // One question at a time; an answer that was overtaken is dropped.
  async function ask(what, parts) {
    clearTimeout(waits);
    asked?.abort();
    const mine = asked = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("do", what);
    let answer;
    try {
      answer = await fetch(form.action, { method: "POST", body: fields, redirect: "manual", cache: "no-store", signal: mine.signal });
      if (!answer.ok) return false;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine.signal.aborted) return false;
      for (const id of parts) {
        const fresh = page.getElementById(id), old = document.getElementById(id);
        if (fresh && old) old.replaceWith(document.importNode(fresh, true));
      }
      for (const sum of page.querySelectorAll(".plan-line .plan-sum")) {
        const mineSum = document.querySelector(`#${CSS.escape(sum.closest(".plan-line").id)} .plan-sum`);
        if (mineSum) mineSum.textContent = sum.textContent;
      }
      const total = page.querySelector(".plan-total strong"), shown = form.querySelector(".plan-total strong");
      if (total && shown) shown.textContent = total.textContent;
      speak();
      return true;
    } catch { return false; } // overtaken or cut off: the next key asks again
  }

  // What it means is said to a screen reader when it has changed.
  function speak() {
    const lead = document.querySelector("#plan-preview .lead")?.textContent.trim() ?? "";
    const said = document.getElementById("said");
    if (said && lead && lead !== spoken) said.textContent = spoken = lead;
  }

  form.addEventListener("input", () => {
    clearTimeout(waits);
    waits = setTimeout(() => ask("show", ["plan-preview"]), pause);
  });
  form.addEventListener("click", async (event) => {
    const button = event.target.closest("button[name=do]");
    if (!button || !(button.value === "add" || button.value.startsWith("remove-"))) return;
    event.preventDefault();
    if (!await ask(button.value, ["plan-lines", "plan-preview"])) return;
    const lines = form.querySelectorAll(".plan-line");
    if (button.value === "add") lines[lines.length - 1]?.querySelector("input")?.focus();
    else form.querySelector("#plan-lines button[value=add]")?.focus();
  });
  ask("show", ["plan-preview"]);
})();
