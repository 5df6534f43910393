"""Looks at the report of a plan in headless Chromium.

page.py PAGE FOLDER [large]: opens PAGE, made of the documents in FOLDER, and
checks what a reader, a keyboard, a narrow screen, the dark and a browser without
script find there. With `large` only that it stays usable."""
import json
import pathlib
import re
import sys
import urllib.parse

from chromium import Browser

failed = 0
READY = "document.documentElement.dataset.graph !== undefined"
# name -> selector, in reading order
FIRST_SCREEN = [("title", "h1"), ("sentence", ".verdict"), ("warnings", ".trust"), ("bar", ".bar"),
                ("targets", "#where ~ .scroll"), ("costliest regions", ".top5")]
CONTRAST = """
const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
const light = (c) => { const f = c.slice(0, 3).map((x) => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
	return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
	if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
const bad = [];
for (const e of document.querySelectorAll("body *")) {
	const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
	if (!own || !e.checkVisibility() || /SCRIPT|STYLE|TITLE/i.test(e.tagName)) continue;
	const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
	const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	if (ratio < 4.5) bad.push(e.tagName + " " + e.className + " " + ratio.toFixed(2));
}
return [...new Set(bad)];
"""


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED:", what)


def open_page(b, page, fragment=""):
    b.open(page, fragment)
    b.wait(READY)


def boxes(b):
    return int(b.wait("document.querySelector('#canvas').dataset.boxes",
                      "return document.querySelector('#canvas').dataset.boxes"))


def scale(b):
    """After what is being drawn is drawn."""
    return float(b.call("POST", "/execute/async", {"args": [], "script":
                 "requestAnimationFrame(() => requestAnimationFrame(() => "
                 "arguments[0](document.querySelector('#canvas').dataset.scale)))"}))


def try_first_screen(b, page):
    for width in (1280, 800, 400):
        b.size(width, 800)
        open_page(b, page)
        wide = b.run("return document.documentElement.scrollWidth")
        check(wide <= width, f"{width} wide: the page is {wide} wide")
        bottoms = []
        for name, selector in FIRST_SCREEN:
            box = b.run("const r = document.querySelector(arguments[0])?.getBoundingClientRect();"
                        "return r ? [r.top, r.bottom, r.width, r.height] : null", selector)
            check(box is not None and box[2] > 0 and box[3] > 0, f"{width} wide: the {name} shows")
            bottoms.append(box[1] if box else 0)
        check(bottoms == sorted(bottoms), f"{width} wide: in reading order {bottoms}")
        if width == 1280:
            check(bottoms[-1] <= 800, f"all is on the first screen: it ends at {bottoms[-1]}")
            left = b.run("const c = [...document.querySelectorAll('.card')];"
                         "return c.map((x) => x.getBoundingClientRect().bottom)")
            check(all(x <= 800 for x in left) and len(left) <= 3, f"what is left is on it: {left}")
    b.size(1280, 800)


def try_text(b, result):
    text = b.run("return document.querySelector('main').innerText")
    check(not re.search(r"\b(undefined|NaN)\b", text), "every number is one")
    check(not re.search(r"(?<![\d.,])1 (region|composite|node|assumption|line)s\b", text), "one thing is singular")
    verdict = b.run("return document.querySelector('.verdict').innerText")
    check(verdict.endswith("."), "a whole sentence")
    check(("proven cheapest" in verdict) == result["proof"]["proven"], "the proof is as it is: " + verdict)
    unpriced = any(c["price"]["state"] != "known" for c in result["plan"]["composites"])
    check(("have no price yet" in verdict) == unpriced, "... and what has no price: " + verdict)
    check(("estimated" in verdict) == (result["total"]["basis"] == "estimated"), "... and what it is of: " + verdict)
    names = b.run("return [...document.querySelectorAll('.top5 th a')].map((a) => a.textContent)")
    known = {r["name"] for r in result["plan"]["regions"]}
    check(names and len(names) <= 5 and set(names) <= known, f"the costliest regions {names}")
    check(b.run("return performance.getEntriesByType('resource').length") == 0, "the page asks for no other file")
    check(b.run("return document.querySelectorAll('img').length") == 0, "no name became markup")
    recased = b.run("return [...document.querySelectorAll('main *')].filter((e) => ['', '::first-letter'].some((part) =>"
                    "getComputedStyle(e, part).textTransform !== 'none')).map((e) => e.tagName + ' ' + e.innerText)")
    check(not recased, f"names and paths keep their case: {recased[:3]}")


def try_graph(b, page, result):
    composites = result["plan"]["composites"]
    open_page(b, page)
    folded = boxes(b)
    b.run("document.querySelector('[data-fold=\"2\"]').click()")
    scale(b)
    check(boxes(b) == len(composites), f"every composite is a box: {boxes(b)} of {len(composites)}")
    check(folded <= max(40, len(result["plan"]["regions"])), f"it opens folded: {folded} boxes")
    b.run("document.querySelector('[data-fold=\"0\"]').click(); document.querySelector('#graph').scrollIntoView()")
    before, y = scale(b), b.run("return scrollY")
    at = b.run("const r = document.querySelector('#canvas').getBoundingClientRect(); return [r.x + 200, r.y + 200]")
    wheel = {"type": "mouseWheel", "x": at[0], "y": at[1], "deltaX": 0, "deltaY": -120}
    b.devtools("Input.dispatchMouseEvent", modifiers=2, **wheel)
    check(scale(b) > before, "Ctrl and wheel zoom")
    before = scale(b)
    b.devtools("Input.dispatchMouseEvent", **wheel)
    b.wait(f"scrollY < {y}")
    check(scale(b) == before, "the wheel alone scrolls the page")


def try_keys(b, page, result):
    open_page(b, page)
    seen = []
    for _ in range(400):
        b.key("Tab")
        here = b.run("const e = document.activeElement, r = e.getBoundingClientRect();"
                     "return [e.id || e.className || e.tagName, e.checkVisibility(), "
                     "!!(document.querySelector('main').compareDocumentPosition(e) & 16)]")
        seen.append(here[0])
        check(here[1], f"focus is on something that shows: {here[0]}")
        if here[0] == "canvas":
            break
    check(seen[0] == "skip" and "find" in seen and seen[-1] == "canvas", f"the walk to the graph: {seen[:4]} ... {seen[-1]}")
    b.key("ArrowRight")
    first = b.run("return document.querySelector('#panel h3')?.textContent")
    check(first, "an arrow picks a box and the panel tells of it")
    if boxes(b) > 1:
        b.key("End")
        check(b.run("return document.querySelector('#panel h3').textContent") != first, "End goes to the last box")
    b.key("Home")
    before = scale(b)
    b.key("+")
    check(scale(b) > before, "+ zooms")
    b.key("Tab")
    check(b.run("return document.activeElement.id") != "canvas", "Tab leaves the graph")
    b.run("document.activeElement.blur()")
    b.key("/")
    check(b.run("return document.activeElement.id") == "find", "/ goes to the search")
    label = result["nodes"][-1]["label"]
    b.run("const q = document.querySelector('#find'); q.value = arguments[0]; q.dispatchEvent(new Event('input'))", label)
    check(label in b.run("return document.querySelector('#hits').textContent"), "the search finds a node")
    b.key("Enter")
    b.wait(f"location.hash.startsWith('#node=') && document.querySelector('#panel').textContent.includes({json.dumps(label)})")


def try_links(b, page, result):
    nodes = result["nodes"]
    for node in (nodes[0], nodes[len(nodes) // 2]):
        open_page(b, page, "#node=" + urllib.parse.quote(node["label"]))
        b.wait("document.querySelector('#panel h3')")
        check(node["label"] in b.run("return document.querySelector('#panel').textContent"),
              "a link to node " + node["label"])
        check(b.run("return document.querySelector('#canvas').getBoundingClientRect().top < innerHeight"), "... shows the graph")
    if len(result["plan"]["regions"]) <= 400:
        open_page(b, page, "#region-0")
        check(b.run("const r = document.querySelector('#region-0').getBoundingClientRect();"
                    "return r.top >= 0 && r.bottom <= innerHeight"), "a link to a region shows its row")
    deep = b.run("return [...document.querySelectorAll('details details .leaf[id]')].pop()?.id")
    if deep:
        open_page(b, page, "#" + urllib.parse.quote(deep))
        check(b.run("return document.getElementById(arguments[0]).checkVisibility()", deep), "a link opens what holds " + deep)


def try_schemes(b, page):
    grounds = []
    for scheme in ("light", "dark"):
        b.scheme(scheme)
        open_page(b, page)
        b.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        grounds.append(b.run("return getComputedStyle(document.body).backgroundColor"))
        bad = b.run(CONTRAST)
        check(bad == [], f"contrast of 4.5 in the {scheme}: {bad[:5]}")
    check(grounds[0] != grounds[1], "the dark has its own colours")
    b.scheme("light")


def try_without_script(b, page, result):
    b.scripts(False)
    b.open(page)
    text = b.run("return document.body.innerText")
    check("drawn by JavaScript" in text, "the graph says that it needs a script")
    check(b.run("return [...document.querySelectorAll('.jsonly')].every((e) => !e.checkVisibility())"), "nothing waits for a script")
    for heading in ("Where the time goes", "Costliest regions", "Left on the table", "Operators", "Regions", "Compared with"):
        check(heading in text, "without script there is: " + heading)
    rows = b.run("return document.querySelectorAll('#regions tbody tr').length")
    check(rows == min(400, len(result["plan"]["regions"])), f"without script there are {rows} regions")
    check(b.run("const d = document.querySelector('#environment details:not([open])'); d.querySelector('summary').click();"
                "return d.open"), "without script what is folded opens")
    b.scripts(True)


def try_large(b, page, result):
    composites = result["plan"]["composites"]
    open_page(b, page)
    paint = b.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    print(f"first paint after {paint:.0f} ms, graph after", b.run("return document.documentElement.dataset.graph"), "ms")
    check(boxes(b) <= 60, f"it opens folded: {boxes(b)} boxes")
    b.run("document.querySelector('[data-fold=\"2\"]').click()")
    scale(b)
    check(boxes(b) == len(composites), f"all boxes: {boxes(b)}")
    b.run("document.querySelector('[data-zoom=\"0\"]').click()")
    check(scale(b) < 0.16, "from afar there are rectangles")
    took = b.call("POST", "/execute/async", {"args": [], "script":
        "const t = performance.now(); document.querySelector('[data-zoom=\"1\"]').click();"
        "requestAnimationFrame(() => requestAnimationFrame(() => arguments[0](performance.now() - t)))"})
    print(f"a zoom of {len(composites)} boxes took {took:.0f} ms")
    label = result["nodes"][len(result["nodes"]) * 2 // 3]["label"]
    open_page(b, page, "#node=" + urllib.parse.quote(label))
    b.wait("document.querySelector('#panel h3')")
    check(label in b.run("return document.querySelector('#panel').textContent"), "a link into a large plan")
    check(boxes(b) <= 100, f"... which stays folded: {boxes(b)} boxes")
    check(len(b.run("return [...document.querySelectorAll('#regions tbody tr')].map((r) => r.id)")) == 400, "400 regions are listed")


def main():
    page, folder = sys.argv[1:3]
    result = json.loads((pathlib.Path(folder) / "result.json").read_text())
    b = Browser()
    try:
        if "large" in sys.argv[3:]:
            try_large(b, page, result)
        else:
            try_first_screen(b, page)
            try_text(b, result)
            try_graph(b, page, result)
            try_keys(b, page, result)
            try_links(b, page, result)
            try_schemes(b, page)
            try_without_script(b, page, result)
        for message in b.complaints():
            check(False, "console: " + message)
    finally:
        b.close()
    sys.exit(1 if failed else 0)


main()
