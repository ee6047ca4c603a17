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
const words = document.body.dataset;
const units = words.units.split(" ");
function refresh() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-live]")) {
    const seconds = Math.round((Date.parse(time.dateTime) - now) / 1000);
    const n = Math.abs(seconds);
    if (n < 10) continue;
    let [size, unit] = [86400, units[4]];
    if (n < 60) [size, unit] = [1, units[0]];
    else if (n < 3600) [size, unit] = [60, units[1]];
    else if (n < 86400) [size, unit] = [3600, units[2]];
    else if (n < 2 * 86400) unit = units[3];
    const pattern = seconds < 0 ? words.past : words.future;
    time.textContent = pattern.replace("{n}", `${Math.floor(n / size)} ${unit}`);
  }
}
setInterval(refresh, 30000);
