"use strict";
/* Everything is there without this: it adds what can be clicked. */
for (const code of document.querySelectorAll(".cmd code")) {
	const button = document.createElement("button");
	button.type = "button";
	button.textContent = "copy";
	button.setAttribute("aria-label", "copy: " + code.textContent);
	button.addEventListener("click", async () => {
		try {
			await navigator.clipboard.writeText(code.textContent);
			button.textContent = "copied";
		} catch {
			getSelection().selectAllChildren(code);
			button.textContent = "selected";
		}
		setTimeout(() => { button.textContent = "copy"; }, 1500);
	});
	code.after(button);
}
/* A batch of many models: keep the rows that are asked for. */
const matrix = document.querySelector("#matrix .scroll");
const rows = [...document.querySelectorAll("#matrix tbody tr")];
if (rows.length > 8) {
	const filter = document.createElement("input");
	filter.type = "search";
	filter.className = "filter";
	filter.placeholder = "only models with ...";
	filter.setAttribute("aria-label", "Only models whose name contains");
	filter.addEventListener("input", () => {
		for (const row of rows)
			row.hidden = !row.firstElementChild.textContent.toLowerCase().includes(filter.value.toLowerCase());
	});
	matrix.before(filter);
}
/* A link to something folded opens it. */
function unfold() {
	const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
	const folded = at && at.closest("details:not([open])");
	if (folded)
		folded.open = true;
}
addEventListener("hashchange", unfold);
unfold();
