"""What axe-core finds on a page, light and dark, wide and narrow: no rule of any
impact may be broken.

axe.py AXE_MIN_JS PAGE..."""
import pathlib
import sys

from chromium import Browser

JUDGE = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"]}).then((r) => done(r.violations.map((v) =>
	v.impact + " " + v.id + ": " + v.nodes.length + " of " + v.nodes.slice(0, 2).map((n) => n.target.join(" ") + " " + n.failureSummary).join(" | "))));
"""


def main():
    script = pathlib.Path(sys.argv[1]).read_text()
    failed = 0
    b = Browser()
    try:
        for page in sys.argv[2:]:
            for scheme in ("light", "dark"):
                for width in (1280, 400):
                    b.scheme(scheme)
                    b.size(width, 800)
                    b.open(page)
                    b.wait("document.readyState === 'complete'")
                    b.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                    b.run(script)
                    for broken in b.call("POST", "/execute/async", {"script": JUDGE, "args": []}):
                        failed += 1
                        print(f"{page}, {scheme}, {width} wide: {broken}")
    finally:
        b.close()
    sys.exit(1 if failed else 0)


main()
