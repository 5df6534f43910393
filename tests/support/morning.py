"""Looks at the page of a night in headless Chromium.

morning.py PAGE UNIT: at three widths, in the dark, without JavaScript and by the
keyboard; UNIT is a search that the first finding names."""
import sys

from chromium import Browser

PAGE, UNIT = sys.argv[1], sys.argv[2]
WORDS = "return document.body.innerText.replace(/\\s+/g, ' ')"
failed = 0


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED:", what)


def try_width(b, width):
    b.size(width, 800)
    b.open(PAGE)
    wide = b.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    check(wide <= 0, f"{width} px: nothing overflows sideways ({wide} px)")
    check(b.run("return document.querySelector('.verdict').getBoundingClientRect().bottom") < 300,
          f"{width} px: the totals come first")
    check(b.run("return document.querySelector('.look .f').getBoundingClientRect().bottom") < 800,
          f"{width} px: what to look at is on the first screen")


def try_dark(b):
    b.size(1280, 800)
    shades = []
    for scheme in "dark", "light":
        b.scheme(scheme)
        b.open(PAGE)
        shades.append(sum(b.run(
            "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")))
    check(shades[0] < 200 < 600 < shades[1], f"dark where the reader wants it dark: {shades}")


def try_links(b):
    b.open(PAGE, f"#u-{UNIT}")
    box = b.run("const r = document.getElementById(arguments[0]).getBoundingClientRect();"
                "return r.top >= 0 && r.bottom <= innerHeight", f"u-{UNIT}")
    check(box, "a link to a search shows it")
    lost = b.run("return [...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1))"
                 ".filter(id => !document.getElementById(id))")
    check(lost == [], f"links to places lead somewhere: {lost}")


def try_keyboard(b):
    b.open(PAGE)
    seen = []
    for _ in range(30):
        b.key("Tab")
        seen.append(b.run(
            "const e = document.activeElement; return [e.tagName, e.innerText.trim(),"
            "getComputedStyle(e).outlineStyle !== 'none', e.getBoundingClientRect().left >= 0]"))
    check(seen[0][1] == "Skip to content" and seen[0][3], f"the first stop skips to the content: {seen[0]}")
    check(any(text == UNIT for _, text, _, _ in seen), "findings are reached by Tab")
    check(any(tag == "CODE" for tag, _, _, _ in seen), "commands are reached by Tab")
    check(any(text == "copy" for _, text, _, _ in seen), "copying is reached by Tab")
    check(all(ring for tag, _, ring, _ in seen if tag in ("A", "CODE", "BUTTON")), "where one is can be seen")


def try_filter(b):
    b.open(PAGE)
    rows = b.run("return document.querySelectorAll('#matrix tbody tr').length")
    shown = b.run("const f = document.querySelector('.filter'); if (!f) return null; f.value = arguments[0];"
                  "f.dispatchEvent(new Event('input'));"
                  "return [...document.querySelectorAll('#matrix tbody tr')].filter(r => r.offsetHeight > 0).length",
                  UNIT.split("@")[0])
    check(shown is not None and 0 < shown < rows, f"the filter keeps what is asked for: {shown} of {rows}")


def try_without_script(b):
    b.open(PAGE)
    b.run("document.querySelectorAll('button, .filter').forEach(e => e.remove())")
    with_script = b.run(WORDS)
    b.scripts(False)
    b.open(PAGE)
    root = b.devtools("DOM.getDocument")["root"]["nodeId"]
    plain = b.devtools("DOM.getOuterHTML", nodeId=root)["outerHTML"]
    b.scripts(True)
    check("<button" not in plain and "class=\"filter\"" not in plain, "no script ran")
    b.open(PAGE)
    b.run("document.documentElement.innerHTML = new DOMParser().parseFromString(arguments[0], 'text/html')"
          ".documentElement.innerHTML", plain)
    check(b.run(WORDS) == with_script and UNIT in with_script, "without JavaScript all the words are there")


def main():
    b = Browser()
    try:
        for width in 400, 800, 1280:
            try_width(b, width)
        try_dark(b)
        try_links(b)
        try_keyboard(b)
        try_filter(b)
        try_without_script(b)
        for complaint in b.complaints():
            check(False, "console: " + complaint)
    finally:
        b.close()
    sys.exit(1 if failed else 0)


main()
