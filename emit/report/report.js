"use strict";
/* The report's behaviour. Every text from the model is put into the page as
 * text, never as markup. Data: the JSON artefacts, as README.md describes. */
(function () {
	const load = (id) => JSON.parse(document.getElementById(id).textContent);
	const result = load("data-result"), map = load("data-map");
	/* parsed when somebody asks: they are most of a large page */
	const later = (id) => {
		let doc;
		return () => doc === undefined ? doc = load(id) : doc;
	};
	const getProvenance = later("data-provenance"), getOthers = later("data-alternatives");
	const plan = result.plan, mix = result.mix;
	const total = result.total.cost_ns || 0;
	const state = {chosen: -1, hot: -1, sort: "composite", down: false, shown: 0, rows: []};

	/* ---- small tools ---- */
	const byId = (id) => document.getElementById(id);
	function h(tag, attrs, ...children) {
		const e = document.createElement(tag);
		for (const [k, v] of Object.entries(attrs || {}))
			if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
			else if (k === "style") e.style.cssText = v;
			else if (v !== null && v !== false) e.setAttribute(k, v);
		for (const c of children.flat())
			if (c !== null && c !== undefined) e.append(c);
		return e;
	}
	/* append() would write a null out */
	const put = (id, ...parts) => byId(id).append(...parts.filter((p) => p !== null));
	function cost(ns) {
		if (ns === null || ns === undefined) return "never";
		if (ns === 0) return "0 µs";
		if (ns < 1e4) return (ns / 1e3).toFixed(3) + " µs";
		if (ns < 1e6) return (ns / 1e3).toFixed(1) + " µs";
		if (ns < 1e9) return (ns / 1e6).toFixed(3) + " ms";
		return (ns / 1e9).toFixed(3) + " s";
	}
	const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
	const share = (ns) => total ? (100 * ns / total).toFixed(1) + " %" : "";
	const color = (target) => `var(--t${target % 8})`;
	const dot = (c) => h("i", {class: "dot", style: `background:${c}`});
	const targetName = (t) => h("span", {}, dot(color(t)), mix[t] ? mix[t].text : "?");
	function bytes(n) {
		if (n < 1024) return n + " B";
		return n < 1048576 ? (n / 1024).toFixed(1) + " KiB" : (n / 1048576).toFixed(1) + " MiB";
	}
	function table(head, rows, attrs) {
		return h("table", attrs || {},
		    h("thead", {}, h("tr", {}, head.map(([name, numeric]) => h("th", {class: numeric ? "n" : null}, name)))),
		    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((c, i) =>
			h("td", {class: head[i][1] ? "n" : null}, c))))));
	}
	function range(p) {
		if (!p) return "";
		let text = p.basis || p.source;
		if (p.state !== "known") text += p.state !== "bound" ? ", failed" : p.basis ? ", not priced yet" : ", a lower bound";
		if (p.low_ns !== undefined) text += ` (${cost(p.low_ns)} to ${cost(p.high_ns)})`;
		if (p.samples) text += `, ${counted(p.samples, "sample")}`;
		/* a parameter's name, or a sentence */
		if (p.rests_on) text += (p.rests_on.includes(" ") ? ": " : ", rests on ") + p.rests_on;
		return text;
	}

	/* ---- the source map, both ways: one row per ONNX node ---- */
	const composites = plan.composites, regions = plan.regions;
	const layersOf = new Map(map.composites.map((c) => [c.id, c.layers]));
	const onnxOf = composites.map(() => []);
	const nodesOf = composites.map(() => 0);
	for (const n of map.nodes) nodesOf[n.composite]++;
	/* what entries share stands once; what goes without saying was left out */
	for (const c of composites) c.price = result.shared[c.price];
	map.onnx.forEach((o, i) => Object.assign(o, {id: i, fate: o.fate || "covered", graph: o.graph || ""}));
	const onnxName = (o) => o.name || (o.graph ? o.graph + "/" : "") + o.op_type + "_" + o.index;
	const rows = map.onnx.map((o) => {
		const at = [...new Set(o.nodes.map((l) => map.nodes[l.node].composite))];
		for (const c of at) onnxOf[c].push(o.id);
		const c = at.length ? composites[at[0]] : null;
		return {
			id: o.id, onnx: o, at, name: onnxName(o), op: o.op_type,
			where: c ? mix[c.target].text : o.fate, target: c ? c.target : -1,
			region: c ? c.region : -1, composite: c ? c.id : -1,
			rule: c ? c.rule : (o.why || ""), way: c ? c.implementation : "",
			cost: c ? c.cost_ns : 0, source: c ? c.price.source : "",
		};
	});
	for (const r of rows) {
		r.text = [r.name, r.op, r.where, r.rule, r.way, regions[r.region] ? regions[r.region].name : ""].join(" ").toLowerCase();
		r.sharing = r.composite >= 0 ? onnxOf[r.composite].length : 0;
	}

	/* ---- summary ---- */
	function summary() {
		const proof = result.proof;
		byId("title").textContent = result.model.name;
		byId("subtitle").append("over ", mix.map((t, i) => [i ? ", " : "", targetName(t.id)]).flat().reduce((f, x) => (f.append(x), f), document.createDocumentFragment()),
		    ` · ${result.model.path}`);
		const best = result.baselines.filter((b) => b.cost_ns !== null).sort((a, b) => a.cost_ns - b.cost_ns)[0];
		const card = (big, small) => h("div", {class: "card"}, h("b", {}, big), h("span", {}, small));
		put("cards",
		    card(`${cost(total)} ${result.total.basis || ""}`, `${cost(result.total.low_ns)} to ${cost(result.total.high_ns)} over the ranges of its prices`),
		    proof.proven ? card("proven optimal", `at these prices, ${proof.searcher} search`)
			: proof.lower_bound_ns ? card("gap " + (100 * proof.gap).toFixed(1) + " %", `not proven: no legal plan costs less than ${cost(proof.lower_bound_ns)}`)
			: card("not proven", `by ${proof.searcher}: no lower bound is known`),
		    best && best.ratio !== null ? card("×" + best.ratio.toFixed(2), `${best.bound ? "at least, " : ""}against the best baseline, ${best.name}`) : null,
		    card(counted(regions.length, "region"), `${counted(composites.length, "composite")}, ${counted(map.nodes.length, "node")}`),
		    card(counted(plan.conversions.length, "conversion"), `${cost(result.total.conversions_ns)} (${share(result.total.conversions_ns)})`));
	}

	function breakdown() {
		const parts = mix.map((t) => ({name: t.text, color: color(t.id),
		    ns: composites.reduce((s, c) => s + (c.target === t.id ? c.cost_ns : 0), 0)}));
		parts.push({name: "conversions", color: "var(--conversion)", ns: result.total.conversions_ns},
		    {name: "launches", color: "var(--launch)", ns: result.total.launches_ns});
		const used = parts.filter((p) => p.ns > 0);
		byId("breakdown").append(
		    h("div", {class: "bar"}, used.map((p) => h("i", {style: `background:${p.color};flex:${p.ns} 0 0`, title: `${p.name}: ${cost(p.ns)}`}))),
		    h("div", {class: "legend"}, used.map((p) => h("span", {}, dot(p.color), `${p.name} ${cost(p.ns)} (${share(p.ns)})`))));
		byId("baselines").append(table([["plan"], ["cost", 1], ["times ours", 1]],
		    [["this plan", cost(total), "1.000"]].concat(result.baselines.map((b) =>
			[b.name, b.cost_ns === null ? "has no cover" : (b.bound ? "≥ " : "") + cost(b.cost_ns), b.ratio === null ? "" : b.ratio.toFixed(3)]))));
		const eager = result.eager;
		if (eager && eager.cost_ns > total)
			byId("baselines").append(h("p", {}, `${(100 - 100 * total / eager.cost_ns).toFixed(1)} % less${eager.bound ? ", at least," : ""} than the eager plan: ` +
			    `${counted(eager.launches, "launch")} instead of ${eager.eager_launches}; its regions merged with others: ${eager.merged}, ` +
			    `its regions of one composite not offloaded: ${eager.single_composite ?? eager.lone}; nodes not offloaded: ${eager.onloaded ?? eager.left}, offloaded that it leaves: ${eager.offloaded ?? eager.gained}.`));
		hangsOn();
	}

	/* What simulated prices assume, and whether the plan hangs on it. */
	function hangsOn() {
		const list = result.sensitivity;
		if (!list) {
			byId("baselines").append(h("p", {}, "What the plan hangs on is not part of this result (--sensitivity adds it)."));
			return;
		}
		const end = (e) => `${e.value}: ${cost(e.kept_ns)}${e.flips ? `, another plan ${cost(e.best_ns)}, ${counted(e.moved, "node")} elsewhere` : ""}`;
		byId("baselines").append(table([["assumed"], ["value", 1], ["at the low end"], ["at the high end"], ["choice"]],
		    list.map((x) => [`${x.parameter} (${x.unit})`, String(x.value), end(x.low), end(x.high), x.flips ? "changes" : "stays"])));
	}

	/* ---- what boundaries cost ---- */
	function boundaries() {
		const list = plan.conversions.slice().sort((a, b) => b.cost_ns - a.cost_ns).slice(0, 200);
		const launches = regions.filter((r) => r.launch_ns > 0);
		put("boundaries",
		    h("p", {class: "soft"}, `${counted(plan.conversions.length, "conversion")}: ${cost(result.total.conversions_ns)}; ${counted(launches.length, "launch")}: ${cost(result.total.launches_ns)}.`
			+ (list.length < plan.conversions.length ? ` The costliest ${list.length} are shown.` : "")),
		    list.length ? h("div", {class: "scroll"}, table([["value"], ["from"], ["to"], ["needed by"], ["bytes", 1], ["cost", 1], ["share", 1], ["price"]], list.map((c) =>
			[h("code", {}, c.value), c.from, c.to, c.before === null ? "the caller" : regions[composites[c.before].region].name,
			    bytes(c.bytes), cost(c.cost_ns), share(c.cost_ns), range(c.price)]))) : null);
	}

	/* ---- table of operators ---- */
	const columns = [["id", "#", 1], ["name", "ONNX node"], ["op", "operator"], ["where", "runs on"], ["region", "region", 1],
	    ["composite", "composite", 1], ["rule", "rule or reason"], ["way", "implementation"], ["cost", "cost of the composite", 1], ["source", "price"]];
	const CHUNK = 60; /* rows at a time: more than fit, few enough to lay out at once */
	function cells(r) {
		return [r.id, r.name, r.op,
		    r.target >= 0 ? targetName(r.target) : r.where, r.region >= 0 ? r.region : "", r.composite >= 0 ? r.composite : "",
		    r.rule, r.way, r.composite >= 0 ? cost(r.cost) + (r.sharing > 1 ? ` / ${r.sharing}` : "") : "", r.source];
	}
	function rowOf(r) {
		return h("tr", {"data-onnx": r.id, class: r.id === state.chosen ? "chosen" : null},
		    cells(r).map((c, i) => h("td", {class: columns[i][2] ? "n" : null}, c)));
	}
	function more() {
		const end = Math.min(state.rows.length, state.shown + CHUNK);
		const f = document.createDocumentFragment();
		for (; state.shown < end; state.shown++) f.append(rowOf(state.rows[state.shown]));
		byId("rows").append(f);
	}
	function refresh() {
		const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
		const target = byId("target").value, region = byId("region").value;
		const key = state.sort, sign = state.down ? -1 : 1;
		state.rows = rows.filter((r) => (target === "" || String(r.target) === target) && (region === "" || String(r.region) === region)
		    && words.every((w) => r.text.includes(w)));
		/* what runs nowhere comes last in either order */
		const gone = (r) => key === "composite" || key === "region" || key === "cost" ? Number(r.composite < 0) : 0;
		state.rows.sort((a, b) => gone(a) - gone(b) || sign * (typeof a[key] === "number" ? a[key] - b[key] : a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) || a.id - b.id);
		byId("rows").replaceChildren();
		state.shown = 0;
		more();
		byId("count").textContent = `${state.rows.length} of ${counted(rows.length, "node")}`;
		for (const th of byId("heads").children)
			th.setAttribute("aria-sort", th.dataset.key !== key ? "none" : state.down ? "descending" : "ascending");
	}
	function operators() {
		byId("heads").append(...columns.map(([key, name, numeric]) => h("th", {"data-key": key, class: numeric ? "n" : null},
		    h("button", {type: "button", onclick: () => {
			state.down = state.sort === key ? !state.down : key === "cost";
			state.sort = key;
			refresh();
		    }}, name))));
		byId("target").append(h("option", {value: ""}, "any target"), ...mix.map((t) => h("option", {value: t.id}, t.text)), h("option", {value: -1}, "folded or dropped"));
		byId("region").append(h("option", {value: ""}, "any region"), ...regions.map((r) => h("option", {value: r.id}, r.name)));
		for (const id of ["filter", "target", "region"]) byId(id).addEventListener("input", refresh);
		byId("reset").addEventListener("click", () => {
			for (const id of ["filter", "target", "region"]) byId(id).value = "";
			refresh();
		});
		const box = byId("rows").closest(".scroll");
		box.addEventListener("scroll", () => {
			if (box.scrollTop + box.clientHeight > box.scrollHeight - 400) more();
		});
		byId("rows").addEventListener("mouseover", (e) => {
			const tr = e.target.closest("tr");
			heat(tr ? rows[tr.dataset.onnx].composite : -1);
		});
		byId("rows").addEventListener("mouseleave", () => heat(-1));
		byId("rows").addEventListener("click", (e) => {
			const tr = e.target.closest("tr");
			if (tr) choose(Number(tr.dataset.onnx));
		});
		addEventListener("beforeprint", () => {
			while (state.shown < state.rows.length) more();
		});
		refresh();
	}

	/* ---- hover: every view shows the same composite ---- */
	function heat(composite) {
		if (composite === state.hot) return;
		state.hot = composite;
		const ids = new Set(composite >= 0 ? onnxOf[composite] : []);
		for (const tr of byId("rows").children) tr.classList.toggle("hot", ids.has(Number(tr.dataset.onnx)));
		for (const g of document.querySelectorAll("#graph .region.hot")) g.classList.remove("hot");
		const g = composite >= 0 ? byId("region_" + composites[composite].region) : null;
		if (g) g.classList.add("hot");
		draw();
	}

	/* ---- click: the whole chain of one ONNX node, and back ---- */
	function layerText(i) {
		const l = map.layers[i];
		return `${l.symbol} #${l.mrvl_nodes_idx} ${l.func_name || l.name || ""}`;
	}
	function alternatives(id) {
		const c = composites[id], others = getOthers();
		const list = others && others.composites ? others.shared[others.composites[id].others] : [];
		if (!list.length)
			return h("p", {class: "soft"}, "No other candidate covers any of these nodes.");
		return table([["other candidates"], ["rule"], ["implementation"], ["nodes", 1], ["price", 1], ["against this", 1]], list.map((o) =>
		    [targetName(o.target), o.rule, o.implementation, o.nodes, o.state === "failed" ? "failed" : (o.state === "bound" ? "≥ " : "") + cost(o.ns),
			o.same && o.ns !== null && c.cost_ns ? (o.state === "bound" ? "≥ " : "") + ((o.ns - c.cost_ns) * 100 / c.cost_ns).toFixed(1) + " %" : "other nodes"]));
	}
	function refusals(o) {
		const nodes = new Set(o.nodes.map((l) => l.node));
		const others = getOthers();
		const list = others && others.refusals ? others.refusals.filter((r) => nodes.has(r.node)) : [];
		if (!list.length) return null;
		return table([["refused by"], ["rule"], ["condition"], ["is"], ["needs"]],
		    list.flatMap((r) => others.shared[r.failed].map((f) => [targetName(r.target), r.rule, f.condition, f.actual, f.required])));
	}
	function choose(id) {
		const o = map.onnx[id], r = rows[id], list = [];
		const add = (name, ...what) => list.push(h("dt", {}, name), h("dd", {}, ...what));
		state.chosen = id;
		add("ONNX node", h("code", {}, `${o.graph ? o.graph + " " : ""}#${o.index} `), r.name, ` (${o.op_type})`);
		add("outputs", h("code", {}, o.outputs.join(", ")));
		add("fate", o.fate + (o.why ? ": " + o.why : ""));
		if (o.nodes.length)
			add("graph nodes", o.nodes.map((l) => `#${l.node} ${map.nodes[l.node].label} (${l.role}${l.inside ? ", inside" : ""})`).join(", "));
		const parts = [];
		for (const at of r.at) {
			const c = composites[at], p = (getProvenance().composites || [])[at] || null;
			add("composite", `#${at} ${c.rule}, ${c.implementation}: ${cost(c.cost_ns)} (${share(c.cost_ns)})`);
			add("price", range(c.price), p && p.when ? `, ${p.when}` : "", p ? ` (${p.origin})` : "");
			add("region", targetName(c.target), ` ${regions[c.region].name}, composites: ${regions[c.region].composites}`);
			for (const v of plan.conversions.filter((v) => v.before === at))
				add("converted for it", h("code", {}, v.value), ` ${v.from} → ${v.to}, ${bytes(v.bytes)}, ${cost(v.cost_ns)} (${share(v.cost_ns)})`);
			if ((layersOf.get(at) || []).length) add("backend layers", layersOf.get(at).map(layerText).join(", "));
			add("with", onnxOf[at].filter((x) => x !== id).map((x) => h("a", {href: "#detail", onclick: (e) => {
				e.preventDefault();
				choose(x);
			}}, rows[x].name)).flatMap((x, i) => i ? [", ", x] : [x]), onnxOf[at].length < 2 ? "no other ONNX node" : "");
			parts.push(alternatives(at));
		}
		byId("detail").replaceChildren(h("dl", {}, list), ...parts, refusals(o) || "");
		for (const tr of byId("rows").children) tr.classList.toggle("chosen", Number(tr.dataset.onnx) === id);
		for (const g of document.querySelectorAll("#graph .region.chosen")) g.classList.remove("chosen");
		const g = r.region >= 0 ? byId("region_" + r.region) : null;
		if (g) g.classList.add("chosen");
		draw();
	}

	/* ---- region graph: zoom, drag, click filters the table ---- */
	function graph() {
		const box = byId("graph"), svg = box.querySelector("svg");
		if (!svg) return;
		const whole = svg.viewBox.baseVal, view = {x: whole.x, y: whole.y, w: whole.width, h: whole.height};
		const full = {...view}, wide = box.clientWidth * 1.1;
		const apply = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
		function zoom(factor, fx, fy) {
			const w = Math.min(full.w * 2, Math.max(full.w / 200, view.w * factor)), k = w / view.w;
			view.x += view.w * (1 - k) * fx;
			view.y += view.h * (1 - k) * fy;
			view.w = w;
			view.h *= k;
			apply();
		}
		/* a short chain needs little room */
		box.style.height = Math.max(120, Math.min(box.clientHeight, full.h / full.w * box.clientWidth + 40)) + "px";
		/* a long chain starts readable rather than whole */
		if (full.w > wide) {
			view.w = wide;
			view.h = full.h;
			apply();
		}
		for (const g of svg.querySelectorAll("title")) g.remove();
		for (const r of regions) {
			const g = byId("region_" + r.id);
			if (!g) continue;
			for (const shape of g.querySelectorAll("path, polygon")) shape.style.fill = color(r.target);
			if ([1, 4].includes(r.target % 8)) for (const t of g.querySelectorAll("text")) t.style.fill = "#111";
			g.addEventListener("mousemove", (e) => tip(e, `${r.name} on ${mix[r.target].text}\n${counted(r.composites, "composite")}, ${cost(r.cost_ns)}`
			    + (r.launch_ns ? `, launch ${cost(r.launch_ns)}` : "")));
			g.addEventListener("mouseleave", () => tip(null));
			g.addEventListener("click", () => {
				byId("region").value = r.id;
				refresh();
			});
		}
		box.addEventListener("wheel", (e) => {
			e.preventDefault();
			const b = box.getBoundingClientRect();
			zoom(e.deltaY > 0 ? 1.2 : 1 / 1.2, (e.clientX - b.left) / b.width, (e.clientY - b.top) / b.height);
		}, {passive: false});
		let drag = null;
		box.addEventListener("pointerdown", (e) => drag = {x: e.clientX, y: e.clientY});
		addEventListener("pointerup", () => drag = null);
		box.addEventListener("pointermove", (e) => {
			if (!drag) return;
			const k = Math.max(view.w / box.clientWidth, view.h / box.clientHeight);
			view.x -= (e.clientX - drag.x) * k;
			view.y -= (e.clientY - drag.y) * k;
			drag = {x: e.clientX, y: e.clientY};
			apply();
		});
		byId("zoom-in").addEventListener("click", () => zoom(1 / 1.5, .5, .5));
		byId("zoom-out").addEventListener("click", () => zoom(1.5, .5, .5));
		byId("zoom-all").addEventListener("click", () => {
			Object.assign(view, full);
			apply();
		});
	}

	/* ---- timeline ---- */
	const slices = [], LANE = 24, LEFT = 130;
	let from = 0, to = 1;
	function layTimeline() {
		let now = 0, next = 0;
		const put = (lane, ns, color, text, composite) => {
			slices.push({begin: now, end: now + ns, lane, color, text, composite});
			now += ns;
		};
		const convert = (before) => {
			for (; next < plan.conversions.length && (before === null || (plan.conversions[next].before !== null && plan.conversions[next].before <= before)); next++) {
				const c = plan.conversions[next];
				put(mix.length, c.cost_ns, "--conversion", `${c.value}: ${c.from} → ${c.to}, ${bytes(c.bytes)}, ${cost(c.cost_ns)}`, -1);
			}
		};
		for (const c of composites) {
			convert(c.id);
			const r = regions[c.region];
			if (r.first === c.id && r.launch_ns) put(r.target, r.launch_ns, "--launch", `launch ${r.name}, ${cost(r.launch_ns)}`, -1);
			put(c.target, c.cost_ns, `--t${c.target % 8}`, `${nodesOf[c.id] > 1 ? counted(nodesOf[c.id], "node") + ", " : ""}${onnxOf[c.id].slice(0, 6).map((i) => rows[i].name).join(", ")}\n${c.rule}, ${c.implementation}, ${cost(c.cost_ns)}`, c.id);
		}
		convert(null);
		to = now || 1;
		return to;
	}
	let span = 1, pending = false;
	function draw() {
		if (!pending) {
			pending = true;
			requestAnimationFrame(paint);
		}
	}
	function paint() {
		pending = false;
		const canvas = byId("timeline"), ratio = devicePixelRatio || 1;
		const w = canvas.clientWidth, height = LANE * (mix.length + 1) + 22, style = getComputedStyle(document.documentElement);
		const ink = (name) => style.getPropertyValue(name).trim(), palette = {};
		canvas.width = w * ratio;
		canvas.height = height * ratio;
		canvas.style.height = height + "px";
		const g = canvas.getContext("2d"), k = (w - LEFT - 8) / (to - from);
		g.scale(ratio, ratio);
		g.font = "12px system-ui, DejaVu Sans, sans-serif";
		g.fillStyle = ink("--ink");
		[...mix.map((t) => t.text), "conversions"].forEach((name, i) => g.fillText(name, 6, i * LANE + 16, LEFT - 12));
		g.fillStyle = ink("--soft");
		for (let i = 0; i <= 4; i++) {
			const x = LEFT + (w - LEFT - 8) * i / 4;
			g.textAlign = i === 4 ? "right" : i ? "center" : "left";
			g.fillText(cost(from + (to - from) * i / 4), x, height - 6);
		}
		g.textAlign = "left";
		g.save();
		g.beginPath();
		g.rect(LEFT, 0, w - LEFT, height - 20);
		g.clip();
		const chosen = new Set(state.chosen >= 0 ? rows[state.chosen].at : []);
		for (const s of slices) {
			if (s.end < from || s.begin > to) continue;
			const x = LEFT + (s.begin - from) * k, wide = Math.max(.6, (s.end - s.begin) * k - .4);
			g.fillStyle = palette[s.color] || (palette[s.color] = ink(s.color));
			g.fillRect(x, s.lane * LANE + 3, wide, LANE - 6);
			if (s.composite >= 0 && (s.composite === state.hot || chosen.has(s.composite))) {
				g.strokeStyle = ink("--ink");
				g.lineWidth = 2;
				g.strokeRect(x, s.lane * LANE + 3, Math.max(wide, 2), LANE - 6);
			}
		}
		g.restore();
	}
	function sliceAt(e) {
		const b = byId("timeline").getBoundingClientRect(), lane = Math.floor((e.clientY - b.top) / LANE);
		const t = from + (e.clientX - b.left - LEFT) * (to - from) / (b.width - LEFT - 8);
		return slices.find((s) => s.lane === lane && s.begin <= t && t < s.end) || null;
	}
	function tip(e, text) {
		const t = byId("tip");
		t.hidden = !e;
		if (!e) return;
		t.textContent = text;
		t.style.left = Math.min(e.clientX + 12, innerWidth - t.offsetWidth - 8) + "px";
		t.style.top = Math.min(e.clientY + 14, innerHeight - t.offsetHeight - 8) + "px";
	}
	function timeline() {
		const canvas = byId("timeline");
		span = layTimeline();
		canvas.addEventListener("mousemove", (e) => {
			const s = sliceAt(e);
			heat(s ? s.composite : -1);
			if (s) tip(e, s.text);
			else tip(null);
		});
		canvas.addEventListener("mouseleave", () => {
			heat(-1);
			tip(null);
		});
		canvas.addEventListener("click", (e) => {
			const s = sliceAt(e);
			if (s && s.composite >= 0 && onnxOf[s.composite].length) choose(onnxOf[s.composite][0]);
		});
		canvas.addEventListener("wheel", (e) => {
			e.preventDefault();
			const b = canvas.getBoundingClientRect(), at = Math.max(0, Math.min(1, (e.clientX - b.left - LEFT) / (b.width - LEFT - 8)));
			const k = e.deltaY > 0 ? 1.25 : 1 / 1.25, wide = Math.min(span, Math.max(span / 1e5, (to - from) * k));
			const middle = from + (to - from) * at;
			from = Math.max(0, Math.min(span - wide, middle - wide * at));
			to = from + wide;
			draw();
		}, {passive: false});
		byId("time-all").addEventListener("click", () => {
			from = 0;
			to = span;
			draw();
		});
		addEventListener("resize", draw);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
		paint();
	}

	/* ---- where numbers come from ---- */
	function provenances() {
		const provenance = getProvenance();
		const groups = new Map();
		for (const c of composites) {
			const p = provenance.composites ? provenance.composites[c.id] : {};
			const key = JSON.stringify([c.target, c.price.source, c.price.state, c.price.rests_on || "", p.origin || "", (p.when || "").slice(0, 10)]);
			const g = groups.get(key) || {n: 0, ns: 0, low: 0, high: 0};
			g.n++;
			g.ns += c.cost_ns;
			g.low += c.price.low_ns === undefined ? c.cost_ns : c.price.low_ns;
			g.high += c.price.high_ns === undefined ? c.cost_ns : c.price.high_ns;
			groups.set(key, g);
		}
		byId("provenance").append(table([["target"], ["price"], ["rests on"], ["from"], ["day"], ["composites", 1], ["cost", 1], ["low", 1], ["high", 1]],
		    [...groups].map(([key, g]) => {
			const [target, source, st, rests, origin, day] = JSON.parse(key);
			return [targetName(target), source + (st === "known" ? "" : ", " + st), rests, origin, day, g.n, cost(g.ns), cost(g.low), cost(g.high)];
		    })));
		byId("environment").append(table([["target"], ["fact"], ["value"]], mix.flatMap((t) => {
			const facts = Object.entries(t.environment || {});
			return facts.length ? facts.map(([k, v]) => [targetName(t.id), k, v]) : [[targetName(t.id), "", ""]];
		})));
		const counts = {...result.counts};
		for (const [k, v] of Object.entries(provenance.counts || {})) counts["this run: " + k] = v;
		byId("counts").append(table([["what"], ["number", 1]], Object.entries(counts).map(([k, v]) => [k, v])),
		    h("p", {class: "soft"}, h("code", {}, provenance.command || "")));
		byId("notes").append(result.notes.length ? h("ul", {}, result.notes.slice(0, 200).map((n) => h("li", {}, n))) : h("p", {class: "soft"}, "None."));
	}

	summary();
	breakdown();
	/* these ask how wide they are: before there are rows to lay out for that */
	graph();
	timeline();
	boundaries();
	operators();
	document.documentElement.dataset.ready = String(Math.round(performance.now()));
	setTimeout(provenances); /* below all that can be clicked */
})();
