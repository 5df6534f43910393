"""Looks at a report in headless Chromium, through chromedriver's HTTP interface.

browser.py PAGE ONNX_NODES [MOST_MS]: opens PAGE, then checks that it has no
console errors, that it was ready within MOST_MS (default 100000), that filter,
sort, hover and click do what they say and that it fits a printed page."""
import json
import pathlib
import re
import subprocess
import sys
import urllib.request

failed = 0


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED:", what)


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rsplit(" ", 1)[1].strip(" .\n")
                break
        self.root = f"http://127.0.0.1:{port}"
        try:
            self.open_session()
        except Exception:
            self.stop()
            raise

    def open_session(self):
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu",
                            "--window-size=1400,1000"]}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.root += "/session/" + session["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.stop()

    def stop(self):
        """Who waits for this program's output would wait for the driver too."""
        self.driver.terminate()
        self.driver.wait()


def type_filter(b, text):
    b.run("const f = document.getElementById('filter'); f.value = arguments[0];"
          "f.dispatchEvent(new Event('input'));", text)


def column(b, n):
    return b.run("return [...document.querySelectorAll('#rows tr')]"
                 ".map(r => r.children[arguments[0]].textContent)", n)


def try_table(b, nodes):
    count = "return document.getElementById('count').textContent"
    check(b.run(count) == f"{nodes} of {nodes} nodes", "all nodes are listed")
    name = column(b, 1)[0]
    type_filter(b, name)
    shown = column(b, 1)
    check(shown and all(name.lower() in s.lower() for s in shown), "the filter keeps what matches")
    type_filter(b, "surely nothing is called like this")
    check(column(b, 1) == [], "the filter leaves nothing when nothing matches")
    type_filter(b, "")
    b.run("document.querySelectorAll('#heads button')[1].click()")
    names = column(b, 1)
    check(names == sorted(names) and len(names) > 1, "sorting by name")
    b.run("document.querySelectorAll('#heads button')[1].click()")
    check(b.run("return document.querySelectorAll('#heads th')[1].getAttribute('aria-sort')")
          == "descending", "a second click turns the order round")
    b.run("document.querySelectorAll('#heads button')[0].click()")


def try_hover(b):
    covered = b.run(
        "const r = [...document.querySelectorAll('#rows tr')].findIndex(r => r.children[5].textContent !== '');"
        "document.querySelectorAll('#rows tr')[r].children[1]"
        ".dispatchEvent(new MouseEvent('mouseover', {bubbles: true})); return r")
    check(b.run("return document.querySelectorAll('#rows tr.hot').length") >= 1, "hover lights the rows")
    if b.run("return document.querySelector('#graph svg') !== null"):
        check(b.run("return document.querySelectorAll('#graph .region.hot').length") == 1, "hover lights the region")
    b.run("document.querySelectorAll('#rows tr')[arguments[0]].click()", covered)
    detail = b.run("return document.getElementById('detail').textContent")
    for part in ("ONNX node", "graph nodes", "composite", "region", "price"):
        check(part in detail, f"the detail says {part}")
    check(b.run("return document.querySelectorAll('#rows tr.chosen').length") == 1, "a click chooses one row")


def try_region(b):
    if not b.run("const g = document.querySelector('#graph .region'); if (g) g.dispatchEvent("
                 "new MouseEvent('click', {bubbles: true})); return g !== null"):
        return
    regions = set(column(b, 4))
    check(len(regions) == 1, "a click on a region filters the table")
    b.run("document.getElementById('reset').click()")


def try_print(b, nodes):
    b.run("dispatchEvent(new Event('beforeprint'))")
    check(len(column(b, 0)) == nodes, "printing shows every row")


def main():
    page, nodes = sys.argv[1], int(sys.argv[2])
    most = float(sys.argv[3]) if len(sys.argv) > 3 else 100000
    b = Browser()
    try:
        b.call("POST", "/url", {"url": pathlib.Path(page).as_uri()})
        ready = b.run("return document.documentElement.dataset.ready")
        check(ready is not None, "the page's script ran to its end")
        if ready is not None:
            print(f"ready after {ready} ms")
            check(float(ready) <= most, f"ready within {most:.0f} ms")
            check(b.run("return document.querySelectorAll('img').length") == 0, "no name became markup")
            text = b.run("return document.body.innerText")
            check(not re.search(r"\b(null|undefined|NaN)\b", text), "every number is one")
            nouns = "region|composite|conversion|sample|node|unit|launche"
            check(not re.search(rf"(?<![\d.])1 ({nouns})s\b", text), "one thing is singular")
            check(re.search(r"s (measured|simulated|estimated|external)\n", text), "the total says what it is")
            try_table(b, nodes)
            try_hover(b)
            try_region(b)
            try_print(b, nodes)
        for entry in b.call("POST", "/se/log", {"type": "browser"}):
            check(False, "console: " + entry["message"])
    finally:
        b.close()
    sys.exit(1 if failed else 0)


main()
