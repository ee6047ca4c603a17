// Shows what limits mean while they are typed. Without it there is a button.
"use strict";

{
  const form = document.querySelector("form[data-limits]");
  let timer, asked = 0;
  async function preview() {
    const mine = ++asked;
    const answer = await fetch(form.dataset.limits, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (mine !== asked || !(answer.ok || answer.status === 422)) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const meaning = page.getElementById("meaning");
    if (mine === asked && meaning) document.getElementById("meaning").replaceChildren(...meaning.children);
  }
  if (form) form.addEventListener("input", (event) => {
    if (event.target.name === "note") return;
    clearTimeout(timer);
    timer = setTimeout(() => preview().catch(() => {}), 350);
  });
}
