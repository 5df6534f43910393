"use strict";
/* The graph of the plan on a canvas: boxes in execution order, wrapped like text.
 * A box is a composite, a region or a stretch that repeats. makeGraph() returns
 * what the page calls. */

const BOX = {w: 150, h: 36, dx: 34, dy: 10, row: 26};
const TEXT_FROM = 0.5, NAME_FROM = 0.3, RECTANGLES_BELOW = 0.16, EDGES_FROM = 0.12;
/* The page opens the costliest folds while no more boxes than this show. */
const OPEN_AT_MOST = 40;

const duration = (ns) => {
	const [unit, name] = ns < 1e3 ? [1, "ns"] : ns < 999500 ? [1e3, "µs"] : ns < 9.995e8 ? [1e6, "ms"] : [1e9, "s"];
	const x = ns / unit;
	return (unit === 1 ? Math.round(x) : x.toFixed(x < 9.995 ? 2 : x < 99.95 ? 1 : 0)) + "\u00a0" + name;
};
const percent = (x, whole) => {
	const p = 100 * x / (whole || 1);
	return !x ? "0\u00a0%" : p < 0.1 ? "< 0.1\u00a0%" : p.toFixed(p < 9.95 ? 1 : 0) + "\u00a0%";
};

/* The end of a long name says more than its beginning. */
const tail = (name) => name.length > 18 ? "…" + name.slice(-17) : name;

/* ---- the tree of boxes, and the cut through it that is shown ---- */

/* Composites of the document as objects. */
const readComposites = (d) => d.composites.map(([region, work, moves, op, fused, label, scope, price, rule], id) =>
	({id, region, target: d.regions[region][1], work, moves, op: d.texts[op], fused, label,
	    scope: scope ? d.texts[scope - 1] : "", price: d.texts[price], rule: d.texts[rule]}));

/* A number is a composite; {region} and {copies, length} hold boxes. */
const readBox = (item, parent, d, composites) => {
	if (typeof item === "number") {
		const c = composites[item];
		return {composite: item, first: item, last: item, n: 1, cost: c.work + c.moves, target: c.target, parent};
	}
	const box = {...item, parent, open: false};
	box.boxes = item.boxes.map((x) => readBox(x, box, d, composites));
	box.first = box.boxes[0].first;
	box.last = box.boxes[box.boxes.length - 1].last;
	box.n = box.last - box.first + 1;
	box.cost = box.boxes.reduce((sum, x) => sum + x.cost, 0);
	const by = [];
	for (const x of box.boxes)
		by[x.target] = (by[x.target] || 0) + x.cost;
	box.target = by.reduce((best, cost, t) => best < 0 || cost > by[best] ? t : best, -1);
	if (item.region !== undefined)
		box.cost += d.regions[item.region][2];
	return box;
};

/* Copies [from, to) of a repeat, as a box of their own where they are many. */
const someCopies = (box, from, to) => {
	const boxes = box.boxes.slice(from * box.length, to * box.length);
	if (to - from < 2)
		return boxes;
	const rest = {...box, copies: to - from, boxes, module: "more", rest: true, parent: box, open: false};
	rest.first = boxes[0].first;
	rest.last = boxes[boxes.length - 1].last;
	rest.n = rest.last - rest.first + 1;
	rest.cost = boxes.reduce((sum, x) => sum + x.cost, 0);
	boxes.forEach((x) => { x.parent = rest; });
	return [rest];
};
const opensWhole = (box) => !box.copies || box.boxes.length <= OPEN_AT_MOST;
const sizeOpen = (box) => opensWhole(box) ? box.boxes.length : box.length + 1;
/* Of a long repeat one copy opens: the one that holds a composite. */
const openBox = (box, composite = box.first) => {
	box.open = true;
	box.parts = box.boxes;
	if (!opensWhole(box)) {
		const at = Math.floor(box.boxes.findIndex((x) => composite <= x.last) / box.length);
		box.parts = [...someCopies(box, 0, at), ...someCopies(box, at, at + 1), ...someCopies(box, at + 1, box.copies)];
	}
	box.parts.forEach((x) => { x.parent = box; });
};

/* detail 0: as folded; 1: repeats open; 2: composites. A region of one composite
 * is shown as that. */
const shownBoxes = (tree, detail) => {
	const out = [];
	const walk = (box) => {
		const all = box.boxes && (detail === 2 || (detail === 1 && box.copies) || (box.region !== undefined && box.n === 1));
		if (all)
			box.boxes.forEach(walk);
		else if (box.open)
			box.parts.forEach(walk);
		else
			out.push(box);
	};
	tree.forEach(walk);
	return out;
};

/* ---- layout: layers by longest path, rows of layers as wide as the window ---- */

const edgesBetween = (boxes, unitOf, edges) => {
	const seen = new Map(), out = [];
	for (let i = 0; i < edges.length; i += 3) {
		const a = unitOf[edges[i]], b = unitOf[edges[i + 1]];
		if (a === b)
			continue;
		const key = a * boxes.length + b, have = seen.get(key);
		if (have) {
			have.ns += edges[i + 2];
		} else {
			const e = {a, b, ns: edges[i + 2]};
			seen.set(key, e);
			out.push(e);
		}
	}
	return out;
};

const layersOf = (n, into, edges) => {
	const layer = new Int32Array(n), use = new Int32Array(n).fill(1 << 30);
	for (let i = 0; i < n; i++)
		for (const u of into[i])
			layer[i] = Math.max(layer[i], layer[u] + 1);
	/* what nothing feeds sits before its first reader, not all in front */
	for (const e of edges)
		use[e.a] = Math.min(use[e.a], layer[e.b]);
	for (let i = 0; i < n; i++)
		if (!into[i].length && use[i] < 1 << 30)
			layer[i] = Math.max(0, use[i] - 1);
	const rows = [];
	for (let i = 0; i < n; i++)
		(rows[layer[i]] ||= []).push(i);
	for (let i = 0; i < rows.length; i++)
		rows[i] ||= [];
	return rows;
};

/* Boxes of one layer, near the middle of what feeds them, none over another. */
const stackLayer = (layer, into, order, from, column, height) => {
	for (const i of layer) {
		let sum = 0, n = 0;
		for (const u of into[i])
			if (column[u] >= from && column[u] < column[i]) {
				sum += order[u];
				n++;
			}
		order[i] = n ? sum / n : (height - 1) / 2;
	}
	layer.sort((a, b) => order[a] - order[b] || a - b);
	let last = -1;
	layer.forEach((i, k) => {
		order[i] = Math.max(last + 1, Math.min(order[i], height - layer.length + k));
		last = order[i];
	});
};

const place = (layers, into, columns, pos, column) => {
	const order = new Float32Array(pos.length / 2);
	let y = 0;
	layers.forEach((layer, q) => layer.forEach((i) => { column[i] = q; }));
	for (let from = 0; from < layers.length; from += columns) {
		const to = Math.min(layers.length, from + columns);
		let height = 1;
		for (let q = from; q < to; q++)
			height = Math.max(height, layers[q].length);
		for (let q = from; q < to; q++) {
			stackLayer(layers[q], into, order, from, column, height);
			for (const i of layers[q]) {
				pos[2 * i] = (q - from) * (BOX.w + BOX.dx);
				pos[2 * i + 1] = y + order[i] * (BOX.h + BOX.dy);
			}
		}
		y += height * (BOX.h + BOX.dy) + BOX.row;
	}
	return y - BOX.row;
};

const layOut = (boxes, edges, width, height) => {
	const n = boxes.length, into = Array.from({length: n}, () => []), out = Array.from({length: n}, () => []);
	for (const e of edges) {
		into[e.b].push(e.a);
		out[e.a].push(e.b);
	}
	const layers = layersOf(n, into, edges), pos = new Float32Array(2 * n), column = new Int32Array(n);
	const shape = Math.max(0.6, width / Math.max(1, height));
	const cells = layers.reduce((sum, l) => sum + Math.max(1, l.length), 0);
	let columns = Math.max(shape > 1 ? 6 : 2,
	    Math.ceil(Math.sqrt(cells * (BOX.h + BOX.dy + 14) / (BOX.w + BOX.dx) * shape * layers.length / cells)));
	columns = Math.min(columns, layers.length);
	let h = place(layers, into, columns, pos, column);
	if (n >= 300) {
		columns = Math.max(3, Math.min(layers.length,
		    Math.round(columns * Math.sqrt(shape * h / (columns * (BOX.w + BOX.dx))))));
		h = place(layers, into, columns, pos, column);
	}
	return {pos, into, out, w: columns * (BOX.w + BOX.dx) - BOX.dx, h};
};

/* ---- painting ---- */

const CORNERS = {
	mrvl: [[0, -1], [1, 0], [0, 1], [-1, 0]],
	host: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
	xnnpack: [[0, -1], [1, 1], [-1, 1]],
	blas: [[-0.5, -1], [1, -1], [0.5, 1], [-1, 1]],
	other: [0, 1, 2, 3, 4, 5].map((i) => [Math.cos(i * Math.PI / 3), Math.sin(i * Math.PI / 3)]),
};
/* The same silhouettes as in the page's style. */
const drawSign = (g, kind, x, y, r) => {
	g.beginPath();
	if (kind === "dnnl")
		g.arc(x, y, r, 0, 7);
	else
		for (const [dx, dy] of CORNERS[kind] || CORNERS.other)
			g.lineTo(x + r * dx, y + r * dy);
	g.closePath();
	g.fill();
};

const readColours = () => {
	const style = getComputedStyle(document.documentElement), css = {};
	for (const name of ["bg", "pan", "fg", "mut", "acc", "conv", "mrvl", "dnnl", "host", "xnnpack", "blas", "other"])
		css[name] = style.getPropertyValue("--" + name).trim();
	return css;
};

const traceEdge = (g, pos, e) => {
	const ax = pos[2 * e.a] + BOX.w, ay = pos[2 * e.a + 1] + BOX.h / 2;
	const bx = pos[2 * e.b], by = pos[2 * e.b + 1] + BOX.h / 2;
	g.moveTo(ax, ay);
	if (bx >= ax) {
		const d = Math.min(60, (bx - ax) / 2 + 4);
		g.bezierCurveTo(ax + d, ay, bx - d, by, bx, by);
	} else { /* to a later row: round the end of this one, above the box */
		const gap = pos[2 * e.b + 1] - 13;
		g.bezierCurveTo(ax + 16, ay, ax + 16, gap, ax - 4, gap);
		g.lineTo(bx - 4, gap);
		g.bezierCurveTo(bx - 18, gap, bx - 18, by, bx, by);
	}
};

const makeGraph = (d, canvas, onPick) => {
	const g = canvas.getContext("2d"), composites = readComposites(d);
	const tree = d.tree.map((x) => readBox(x, null, d, composites));
	const kindOf = (t) => d.targets[t].kind in CORNERS || d.targets[t].kind === "dnnl" ? d.targets[t].kind : "other";
	const view = {x: 0, y: 0, scale: 1};
	let boxes = [], edges = [], lay = null, unitOf = null, chosen = -1, detail = 0, most = 1, colours = readColours();
	let queued = false;

	/* What stands in a box: two lines. */
	const title = (box) => {
		if (box.copies)
			return ["×" + box.copies + "  " + (box.module || box.length + (box.boxes[0].region === undefined ? " composites" : " regions") + " each"),
			    duration(box.cost) + " together"];
		if (box.boxes)
			return [box.title ||= summary(box), duration(box.cost) + "  " + percent(box.cost, d.total) + "  " + d.regions[box.region][0]];
		const c = composites[box.composite];
		return [c.op + (c.fused ? " +" + c.fused : ""), duration(c.work) + "  " + tail(c.label)];
	};
	const operators = (box) => {
		const by = new Map();
		for (let i = box.first; i <= box.last; i++) {
			const c = composites[i], have = by.get(c.op) || {n: 0, ns: 0};
			by.set(c.op, {n: have.n + 1, ns: have.ns + c.work});
		}
		return [...by].map(([op, x]) => ({op, ...x})).sort((a, b) => b.ns - a.ns);
	};
	const summary = (box) => {
		const list = operators(box), rest = box.n - list[0].n;
		return list[0].n + " " + list[0].op + (rest ? " +" + rest : "");
	};

	const draw = () => {
		if (queued)
			return;
		queued = true;
		requestAnimationFrame(() => { queued = false; paint(); });
	};
	const paintEdges = (seen) => {
		const s = view.scale;
		const styles = [[(e) => !e.ns, colours.mut, 0.45, []], [(e) => e.ns, colours.conv, 0.95, [6, 3]]];
		g.lineWidth = Math.max(1, 0.8 / s);
		for (const [takes, colour, alpha, dash] of styles) {
			g.beginPath();
			for (const e of edges)
				if (takes(e) && (seen(e.a) || seen(e.b)))
					traceEdge(g, lay.pos, e);
			g.strokeStyle = colour;
			g.globalAlpha = alpha;
			g.setLineDash(dash);
			g.stroke();
		}
		g.setLineDash([]);
		g.globalAlpha = 1;
	};
	const paintChosenEdges = () => {
		g.beginPath();
		for (const b of lay.out[chosen])
			traceEdge(g, lay.pos, {a: chosen, b});
		for (const a of lay.into[chosen])
			traceEdge(g, lay.pos, {a, b: chosen});
		g.strokeStyle = colours.acc;
		g.lineWidth = 2.5 / Math.max(view.scale, 0.3);
		g.stroke();
	};
	const paintBox = (i) => {
		const box = boxes[i], x = lay.pos[2 * i], y = lay.pos[2 * i + 1], colour = colours[kindOf(box.target)];
		if (box.copies) {
			g.fillStyle = colours.bg;
			g.strokeStyle = colour;
			g.lineWidth = 1.5;
			for (const o of [8, 4]) {
				g.fillRect(x + o, y - o, BOX.w, BOX.h);
				g.strokeRect(x + o, y - o, BOX.w, BOX.h);
			}
		}
		g.fillStyle = colours.bg;
		g.fillRect(x, y, BOX.w, BOX.h);
		g.fillStyle = colour;
		g.globalAlpha = 0.3;
		g.fillRect(x, y, BOX.w * Math.min(1, Math.sqrt(box.cost / most)), BOX.h);
		g.globalAlpha = 1;
		g.strokeStyle = i === chosen ? colours.fg : colour;
		g.lineWidth = i === chosen ? 3 : box.boxes ? 2 : 1.2;
		g.strokeRect(x, y, BOX.w, BOX.h);
		g.fillStyle = colour;
		drawSign(g, kindOf(box.target), x + 12, y + 12, 6);
		if (view.scale <= NAME_FROM)
			return;
		const [name, figure] = title(box);
		g.save();
		g.beginPath();
		g.rect(x, y, BOX.w - 4, BOX.h);
		g.clip();
		g.fillStyle = colours.fg;
		g.font = "600 12px system-ui, sans-serif";
		g.fillText(name, x + 24, y + 12);
		if (view.scale > TEXT_FROM) {
			g.font = "11px system-ui, sans-serif";
			g.fillText(figure, x + 24, y + 27);
		}
		g.restore();
	};
	/* Far away: rectangles, a colour at a time. */
	const paintRectangles = (seen) => {
		d.targets.forEach((t, k) => {
			g.fillStyle = colours[kindOf(k)];
			for (let i = 0; i < boxes.length; i++)
				if (boxes[i].target === k && seen(i))
					g.fillRect(lay.pos[2 * i], lay.pos[2 * i + 1], BOX.w, BOX.h);
		});
		if (chosen >= 0) {
			g.strokeStyle = colours.fg;
			g.lineWidth = 4 / view.scale;
			g.strokeRect(lay.pos[2 * chosen], lay.pos[2 * chosen + 1], BOX.w, BOX.h);
		}
	};
	/* Where the window is, when not all is in sight. */
	const paintOverview = (W, H) => {
		const s = view.scale;
		if (lay.w * s <= W * 1.05 && lay.h * s <= H * 1.05)
			return;
		const q = Math.min(150 / lay.w, 110 / lay.h), w = lay.w * q, h = lay.h * q, x = W - w - 10, y = H - h - 10;
		g.fillStyle = colours.bg;
		g.globalAlpha = 0.92;
		g.fillRect(x - 4, y - 4, w + 8, h + 8);
		g.globalAlpha = 1;
		const step = Math.max(1, Math.ceil(boxes.length / 4000));
		for (let i = 0; i < boxes.length; i += step) {
			g.fillStyle = colours[kindOf(boxes[i].target)];
			g.fillRect(x + lay.pos[2 * i] * q, y + lay.pos[2 * i + 1] * q, Math.max(1, BOX.w * q), Math.max(1, BOX.h * q));
		}
		g.strokeStyle = colours.fg;
		g.lineWidth = 1.5;
		g.strokeRect(x + Math.max(0, -view.x / s * q), y + Math.max(0, -view.y / s * q), Math.min(w, W / s * q), Math.min(h, H / s * q));
	};
	const paint = () => {
		const ratio = devicePixelRatio || 1, W = canvas.clientWidth, H = canvas.clientHeight, s = view.scale;
		if (canvas.width !== Math.round(W * ratio))
			canvas.width = Math.round(W * ratio);
		if (canvas.height !== Math.round(H * ratio))
			canvas.height = Math.round(H * ratio);
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = colours.pan;
		g.fillRect(0, 0, W, H);
		g.translate(view.x, view.y);
		g.scale(s, s);
		g.textBaseline = "middle";
		const x0 = -view.x / s - BOX.w, x1 = (W - view.x) / s, y0 = -view.y / s - BOX.h, y1 = (H - view.y) / s;
		const seen = (i) => lay.pos[2 * i] > x0 && lay.pos[2 * i] < x1 && lay.pos[2 * i + 1] > y0 && lay.pos[2 * i + 1] < y1;
		if (s > EDGES_FROM || boxes.length < 1500)
			paintEdges(seen);
		if (chosen >= 0)
			paintChosenEdges();
		if (s < RECTANGLES_BELOW)
			paintRectangles(seen);
		else
			for (let i = 0; i < boxes.length; i++)
				if (seen(i))
					paintBox(i);
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		paintOverview(W, H);
		canvas.dataset.boxes = boxes.length;
		canvas.dataset.scale = s.toFixed(3);
	};

	/* ---- moving about ---- */

	const clamp = () => {
		const W = canvas.clientWidth, H = canvas.clientHeight, w = lay.w * view.scale, h = lay.h * view.scale;
		view.x = w < W - 24 ? (W - w) / 2 : Math.min(12, Math.max(W - w - 12, view.x));
		view.y = h < H - 40 ? (H - h) / 2 : Math.min(20, Math.max(H - h - 20, view.y));
	};
	const fit = () => {
		view.scale = Math.min((canvas.clientWidth - 24) / lay.w, (canvas.clientHeight - 40) / lay.h, 1.15);
		clamp();
		draw();
	};
	/* All of it, or as much as can be read. */
	const start = () => {
		fit();
		if (view.scale < 0.42 && boxes.length < 4000) {
			view.scale = Math.max(0.55, Math.min(1, (canvas.clientWidth - 24) / lay.w));
			view.x = 12;
			view.y = 20;
		}
	};
	const zoom = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
		const s = Math.min(2.5, Math.max(0.01, view.scale * factor));
		view.x = x - (x - view.x) * s / view.scale;
		view.y = y - (y - view.y) * s / view.scale;
		view.scale = s;
		draw();
	};
	const bringIn = (i) => {
		const s = view.scale, W = canvas.clientWidth, H = canvas.clientHeight;
		const x = lay.pos[2 * i] * s + view.x, y = lay.pos[2 * i + 1] * s + view.y;
		if (x < 10 || x + BOX.w * s > W - 10)
			view.x += W / 2 - x;
		if (y < 20 || y + BOX.h * s > H - 20)
			view.y += H / 2 - y;
		draw();
	};
	const relayout = () => {
		boxes = shownBoxes(tree, detail);
		unitOf = new Int32Array(composites.length);
		boxes.forEach((box, i) => unitOf.fill(i, box.first, box.last + 1));
		edges = edgesBetween(boxes, unitOf, d.edges);
		lay = layOut(boxes, edges, canvas.clientWidth, canvas.clientHeight);
		most = boxes.reduce((a, box) => Math.max(a, box.cost), 1);
		chosen = -1;
	};
	/* The composite stays where it is on the screen. */
	const relayoutAt = (i) => {
		const c = boxes[i].first, s = view.scale, x = lay.pos[2 * i] * s + view.x, y = lay.pos[2 * i + 1] * s + view.y;
		relayout();
		const to = unitOf[c];
		view.x = x - lay.pos[2 * to] * s;
		view.y = y - lay.pos[2 * to + 1] * s;
		pick(to, false);
		bringIn(to);
	};
	const pick = (i, link = true) => {
		chosen = i;
		draw();
		if (i >= 0)
			onPick(boxes[i], link);
	};
	const unfold = (i) => {
		if (i < 0 || !boxes[i].boxes)
			return;
		openBox(boxes[i]);
		relayoutAt(i);
		if (view.scale < TEXT_FROM)
			zoom(0.6 / view.scale, lay.pos[2 * chosen] * view.scale + view.x, lay.pos[2 * chosen + 1] * view.scale + view.y);
	};
	const foldUp = (i) => {
		let up = i >= 0 ? boxes[i].parent : null;
		if (up && up.region !== undefined && up.n === 1)
			up = up.parent;
		if (!up || detail === 2)
			return;
		up.open = false;
		relayoutAt(i);
	};
	/* Open what holds a composite, and go there. */
	const show = (c) => {
		let list = tree, box;
		while (list) {
			box = list.find((x) => x.first <= c && c <= x.last);
			if (!box || !box.boxes)
				break;
			openBox(box, c);
			list = box.parts;
		}
		relayout();
		const i = unitOf[c];
		view.scale = Math.max(view.scale, 0.8);
		view.x = canvas.clientWidth / 2 - lay.pos[2 * i] * view.scale;
		view.y = canvas.clientHeight / 2 - lay.pos[2 * i + 1] * view.scale;
		clamp();
		pick(i);
	};
	const setDetail = (level) => {
		const close = (box) => {
			box.open = false;
			if (box.boxes)
				box.boxes.forEach(close);
		};
		detail = level;
		if (level === 0)
			tree.forEach(close);
		relayout();
		start();
	};
	const openDearest = () => {
		for (let n = tree.length; n < OPEN_AT_MOST;) {
			const fits = (x) => x.boxes && !x.rest && n + sizeOpen(x) - 1 <= OPEN_AT_MOST;
			const box = shownBoxes(tree, 0).reduce((best, x) => fits(x) && (!best || x.cost > best.cost) ? x : best, null);
			if (!box)
				return;
			openBox(box);
			n += sizeOpen(box) - 1;
		}
	};

	/* ---- pointer and keys ---- */

	const boxAt = (e) => {
		const r = canvas.getBoundingClientRect();
		const x = (e.clientX - r.left - view.x) / view.scale, y = (e.clientY - r.top - view.y) / view.scale;
		for (let i = 0; i < boxes.length; i++)
			if (x >= lay.pos[2 * i] && x <= lay.pos[2 * i] + BOX.w && y >= lay.pos[2 * i + 1] && y <= lay.pos[2 * i + 1] + BOX.h)
				return i;
		return -1;
	};
	let drag = null;
	canvas.addEventListener("pointerdown", (e) => {
		drag = {x: e.clientX, y: e.clientY, far: 0};
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", (e) => {
		if (!drag) {
			const i = boxes.length < 20000 ? boxAt(e) : -1;
			canvas.title = i >= 0 ? title(boxes[i]).join("  ") : "";
			return;
		}
		drag.far += Math.abs(e.clientX - drag.x) + Math.abs(e.clientY - drag.y);
		view.x += e.clientX - drag.x;
		view.y += e.clientY - drag.y;
		drag.x = e.clientX;
		drag.y = e.clientY;
		clamp();
		draw();
	});
	canvas.addEventListener("pointerup", (e) => {
		const i = drag && drag.far < 5 ? boxAt(e) : -1;
		drag = null;
		if (i >= 0)
			pick(i);
	});
	canvas.addEventListener("dblclick", (e) => unfold(boxAt(e)));
	/* A plain wheel scrolls the page. */
	canvas.addEventListener("wheel", (e) => {
		if (!e.ctrlKey && !e.metaKey)
			return;
		e.preventDefault();
		const r = canvas.getBoundingClientRect();
		zoom(Math.exp(-e.deltaY / 300), e.clientX - r.left, e.clientY - r.top);
	}, {passive: false});
	/* The nearest box above or below in about the same column. */
	const nextInColumn = (i, direction) => {
		let best = -1, least = Infinity;
		for (let k = Math.max(0, i - 400); k < Math.min(boxes.length, i + 400); k++) {
			const dx = lay.pos[2 * k] - lay.pos[2 * i], dy = lay.pos[2 * k + 1] - lay.pos[2 * i + 1];
			if (Math.abs(dx) < BOX.w && dy * direction > 0 && dx * dx + 4 * dy * dy < least) {
				least = dx * dx + 4 * dy * dy;
				best = k;
			}
		}
		return best;
	};
	const walk = {
		ArrowRight: (i) => lay.out[i].length ? Math.min(...lay.out[i]) : Math.min(boxes.length - 1, i + 1),
		ArrowLeft: (i) => lay.into[i].length ? Math.max(...lay.into[i]) : Math.max(0, i - 1),
		ArrowDown: (i) => nextInColumn(i, 1),
		ArrowUp: (i) => nextInColumn(i, -1),
		Home: () => 0,
		End: () => boxes.length - 1,
	};
	const act = {
		"Enter": () => chosen < 0 ? pick(0) : unfold(chosen),
		" ": () => unfold(chosen),
		"Escape": () => foldUp(chosen),
		"+": () => zoom(1.25),
		"=": () => zoom(1.25),
		"-": () => zoom(0.8),
		"0": fit,
	};
	canvas.addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (walk[e.key]) {
			const to = chosen < 0 ? 0 : walk[e.key](chosen);
			if (to >= 0) {
				pick(to);
				bringIn(to);
			}
		} else if (act[e.key]) {
			act[e.key]();
		} else {
			return;
		}
		e.preventDefault();
	});
	addEventListener("resize", draw);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		colours = readColours();
		draw();
	});

	openDearest();
	relayout();
	start();
	return {composites, operators, show, setDetail, zoom, fit, unfold: () => unfold(chosen)};
};
