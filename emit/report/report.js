/* What the page does beside the graph: copy buttons, search, deep links, the
 * panel of the chosen box. Without a script everything but these is there. */
(() => {
	const root = document.documentElement;
	const find = (selector, from = document) => from.querySelector(selector);
	const all = (selector) => document.querySelectorAll(selector);
	/* Names of the model only ever become text nodes. */
	const make = (tag, attributes = {}, ...children) => {
		const e = document.createElement(tag);
		for (const [key, value] of Object.entries(attributes))
			if (key.startsWith("on"))
				e.addEventListener(key.slice(2), value);
			else
				e.setAttribute(key, value);
		e.append(...children.flat());
		return e;
	};
	root.classList.add("js");

	const copyButton = (command) => {
		const text = find("code", command).textContent;
		const button = make("button", {"aria-label": "copy " + text, onclick: () => {
			if (navigator.clipboard)
				navigator.clipboard.writeText(text);
			button.textContent = "copied";
			setTimeout(() => { button.textContent = "copy"; }, 1200);
		}}, "copy");
		command.append(button);
	};
	all(".cmd").forEach(copyButton);

	const data = JSON.parse(find("#data").textContent);
	const canvas = find("#canvas"), panel = find("#panel");
	let graph = null;

	/* ---- the panel ---- */

	const row = (name, ...value) => make("tr", {}, make("th", {scope: "row"}, name), make("td", {}, ...value));
	const unfoldButton = () => make("button", {onclick: () => { graph.unfold(); canvas.focus(); }}, "Unfold (Enter)");

	const tellComposite = (id) => {
		const c = graph.composites[id], holds = data.holds[id], other = data.elsewhere[id];
		const out = [make("h3", {}, c.label),
		    make("p", {}, c.op + " on ", make("b", {}, data.targets[c.target].text), ", in " + data.regions[c.region][0]),
		    make("table", {}, make("tbody", {},
		        row("costs", make("b", {}, duration(c.work)), " " + percent(c.work, data.total)),
		        c.moves ? row("waits for moves", duration(c.moves)) : [],
		        row("price", c.price), row("rule", c.rule), c.scope ? row("module", c.scope) : []))];
		if (holds)
			out.push(make("p", {}, make("b", {}, "Holds "), holds.join(", ")));
		if (other && other.length) {
			const list = make("ul");
			for (let i = 0; i < other.length; i += 2)
				list.append(make("li", {}, make("b", {}, data.targets[other[i]].text), ": " + data.texts[other[i + 1]]));
			out.push(make("p", {}, make("b", {}, "Elsewhere")), list);
		}
		const command = make("div", {class: "cmd"}, make("code", {tabindex: 0}, `marq explain ${data.folder} --node ${quote(c.label)}`));
		copyButton(command);
		return [...out, command];
	};
	/* As a shell takes it. */
	const quote = (s) => /^[\w./:-]+$/.test(s) ? s : "'" + s.replace(/'/g, "'\\''") + "'";
	const tellRepeat = (box) => [
		make("h3", {}, (box.module ? box.module + ", " : "Repeated ") + "×" + box.copies),
		make("p", {}, `${box.n / box.copies} composites each, placed alike; ${duration(box.cost / box.copies)} each, `
		    + `${duration(box.cost)} together (${percent(box.cost, data.total)}).`), unfoldButton()];
	const tellRegion = (box) => [
		make("h3", {}, data.regions[box.region][0]),
		make("p", {}, `${box.n} composite${box.n === 1 ? "" : "s"} on `, make("b", {}, data.targets[box.target].text),
		    `; ${duration(box.cost)} with moves and launch (${percent(box.cost, data.total)}).`),
		make("table", {}, make("tbody", {}, graph.operators(box).slice(0, 8).map((o) => row(`${o.n} ${o.op}`, duration(o.ns))))),
		unfoldButton(), find("#region-" + box.region) ? make("p", {}, make("a", {href: "#region-" + box.region}, "in the table")) : []];
	const tell = (box, link) => {
		const parts = box.copies ? tellRepeat(box) : box.boxes ? tellRegion(box) : tellComposite(box.composite);
		panel.replaceChildren(...parts.flat());
		if (link && !box.copies)
			history.replaceState(null, "", box.boxes ? "#graph-region=" + box.region
			    : "#node=" + encodeURIComponent(graph.composites[box.composite].label));
	};

	const load = () => {
		if (graph)
			return;
		const began = performance.now();
		graph = makeGraph(data, canvas, tell);
		root.dataset.graph = Math.round(performance.now() - began);
	};
	all("[data-zoom]").forEach((b) => b.addEventListener("click", () => {
		load();
		if (+b.dataset.zoom)
			graph.zoom(+b.dataset.zoom > 0 ? 1.3 : 1 / 1.3);
		else
			graph.fit();
	}));
	all("[data-fold]").forEach((b) => b.addEventListener("click", () => {
		load();
		graph.setDetail(+b.dataset.fold);
		all("[data-fold]").forEach((x) => x.setAttribute("aria-pressed", x === b));
	}));

	/* ---- deep links ---- */

	const composeOf = (label) => {
		load();
		const at = graph.composites.findIndex((c) => c.label === label);
		return at >= 0 ? at : +(Object.keys(data.holds).find((c) => data.holds[c].includes(label)) ?? -1);
	};
	const goTo = (composite) => {
		if (composite < 0)
			return;
		find("#graph").scrollIntoView();
		graph.show(composite);
	};
	const route = () => {
		let hash = location.hash.slice(1), region;
		try {
			hash = decodeURIComponent(hash);
		} catch {
			return;
		}
		if (hash.startsWith("node=")) {
			goTo(composeOf(hash.slice(5)));
		} else if ((region = /^graph-region=(\d+)$/.exec(hash))) {
			load();
			goTo(graph.composites.findIndex((c) => c.region === +region[1]));
		} else {
			const to = hash && document.getElementById(hash);
			for (let e = to; e; e = e.parentElement)
				if (e.tagName === "DETAILS")
					e.open = true;
			if (to)
				to.scrollIntoView();
		}
	};
	addEventListener("hashchange", route);

	/* ---- search ---- */

	const input = find("#find"), hits = find("#hits");
	const sections = (text) => [...all("[id^='op-'], [id^='module-'], [id^='line-']")]
	    .filter((e) => e.id.toLowerCase().includes(text)).slice(0, 6)
	    .map((e) => ({link: e.id, name: e.id.replace(/^\w+?-/, ""), what: e.id.split("-")[0].replace("op", "operator")}));
	const nodes = (text, most) => {
		const out = [];
		for (let i = 0; i < graph.composites.length && out.length < most; i++) {
			const c = graph.composites[i], names = data.holds[i] || [c.label];
			const name = names.find((x) => x.toLowerCase().includes(text)) || (c.scope.toLowerCase().includes(text) ? c.label : null);
			if (name !== null)
				out.push({link: "node=" + encodeURIComponent(name), name, what: `${c.op} on ${data.targets[c.target].text}, ${duration(c.work)}`});
		}
		return out;
	};
	input.addEventListener("input", () => {
		const text = input.value.trim().toLowerCase();
		load();
		hits.hidden = !text;
		const list = text ? sections(text) : [];
		if (text)
			list.push(...nodes(text, 14 - list.length));
		hits.replaceChildren(...list.length
		    ? list.map((x) => make("li", {}, make("a", {href: "#" + x.link}, x.name + " ", make("small", {class: "mut"}, x.what))))
		    : [make("li", {}, "nothing of that name")]);
	});
	input.addEventListener("keydown", (e) => {
		const first = find("a", hits);
		if (e.key === "Enter") {
			e.preventDefault();
			if (first && !hits.hidden)
				location.hash = first.getAttribute("href");
			hits.hidden = true;
		} else if (e.key === "Escape") {
			hits.hidden = true;
		}
	});
	hits.addEventListener("click", () => { hits.hidden = true; });
	addEventListener("keydown", (e) => {
		if (e.key !== "/" || /INPUT|TEXTAREA/.test(document.activeElement.tagName))
			return;
		e.preventDefault();
		input.focus();
	});

	/* first the page, then the graph */
	requestAnimationFrame(() => setTimeout(() => { load(); route(); }, 0));
})();
