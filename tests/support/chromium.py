"""Headless Chromium through chromedriver's HTTP interface, with no module that
Python does not bring."""
import base64
import json
import pathlib
import subprocess
import urllib.error
import urllib.request


class Browser:
    def __init__(self, width=1280, height=800):
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
            self.size(width, height)
        except Exception:
            self.stop()
            raise

    def open_session(self):
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "timeouts": {"script": 300000, "pageLoad": 300000},
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.root += "/session/" + session["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(e.read().decode()[:2000]) from None

    def devtools(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, page, fragment=""):
        """The page anew, whatever was there before."""
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": pathlib.Path(page).absolute().as_uri() + fragment})

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def wait(self, condition, script="return true"):
        """Until the JavaScript expression holds: what the script then returns."""
        self.call("POST", "/execute/async", {"args": [], "script":
                  "const done = arguments[0], wait = () => { if (" + condition
                  + ") done(); else setTimeout(wait, 5); }; wait();"})
        return self.run(script)

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        """light or dark"""
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": name}])

    def scripts(self, on):
        self.devtools("Emulation.setScriptExecutionDisabled", value=not on)

    def key(self, name, text=None):
        """One key, as a keyboard sends it."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
        code = codes.get(name, ord(name[0].upper()))
        typed = {"Enter": "\r"}.get(name, name if len(name) == 1 else None)
        more = {"text": typed} if typed else {}
        self.devtools("Input.dispatchKeyEvent", type="keyDown" if typed else "rawKeyDown",
                      key=name, windowsVirtualKeyCode=code, **more)
        self.devtools("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def picture(self, path, whole=False):
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"})]

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.stop()

    def stop(self):
        """Who waits for this program's output would wait for the driver too."""
        self.driver.terminate()
        self.driver.wait()
