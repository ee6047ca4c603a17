// Small comforts only: every page works without this script.
"use strict";

// A form that does something is sent once. The server honours it once anyway.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.hasAttribute("data-once")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  form.setAttribute("aria-busy", "true");
});

// A page that comes back from the browser's memory may send again: the server says what had been done.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.removeAttribute("aria-busy");
  }
});

// Relative times stay true while the page is open.
const steps = [[86400, "d"], [3600, "h"], [60, "min"]];
function refresh() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-live]")) {
    const seconds = Math.round((Date.parse(time.dateTime) - now) / 1000);
    const distance = Math.abs(seconds);
    const step = steps.find(([size]) => distance >= size);
    if (!step) continue;
    const n = Math.floor(distance / step[0]);
    const unit = step[1] === "d" ? (n === 1 ? "day" : "days") : step[1];
    time.textContent = seconds < 0 ? `${n} ${unit} ago` : `in ${n} ${unit}`;
  }
}
setInterval(refresh, 30000);
