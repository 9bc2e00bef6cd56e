"""A headless Chromium, spoken to through a pipe."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    return None


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp()
        its_input, our_output = os.pipe()
        our_input, its_output = os.pipe()

        def arrange():
            # The pipe is file 3 and file 4; the numbers may be taken, so copies come first.
            first, second = os.dup(its_input), os.dup(its_output)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
             "--user-data-dir=" + self.profile, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=arrange, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(its_input)
        os.close(its_output)
        self.to, self.back = our_output, os.fdopen(our_input, "rb", buffering=0)
        self.rest = b""
        self.number = 0
        self.complaints = []
        self.loaded = None # by whom: a load has a number of its own, and another may still be under way
        target = self.call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        self.frame = target
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", {"enabled": True})

    def read(self):
        while b"\0" not in self.rest:
            chunk = self.back.read(65536)
            if not chunk:
                raise RuntimeError("the browser has gone")
            self.rest += chunk
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, given = message.get("method"), message.get("params", {})
        if method == "Page.lifecycleEvent" and given["name"] == "load" and given["frameId"] == self.frame:
            self.loaded = given["loaderId"]
        elif method == "Runtime.exceptionThrown":
            self.complaints.append("exception: " + given["exceptionDetails"].get("text", ""))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append("console: " + str(given["args"][0].get("value")))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append("log: " + given["entry"]["text"])
        elif method == "Network.loadingFailed" and not given.get("canceled"):
            self.complaints.append("not loaded: " + given["errorText"])

    def call(self, method, given=None, session=""):
        self.number += 1
        message = {"id": self.number, "method": method, "params": given or {}}
        if session == "":
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(method + ": " + answer["error"]["message"])
            else:
                return answer["result"]

    def open(self, address):
        loader = self.call("Page.navigate", {"url": address})["loaderId"]
        self.wait_until(lambda: self.loaded == loader)

    def follow(self, act):
        """What is done leads to another page than this one."""
        before = self.loaded
        act()
        self.wait_until(lambda: self.loaded != before)

    def click(self, link):
        self.follow(lambda: self.value_of(link + ".click()"))

    def follow_within(self, link):
        self.value_of(link + ".click()")
        self.value_of("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def wait_for(self, condition):
        while not self.value_of(condition):
            pass

    def wait_until(self, condition):
        while not condition():
            self.note(self.read())

    def value_of(self, expression):
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise RuntimeError(expression + ": " + str(result["exceptionDetails"]))
        return result["result"].get("value")

    def be_wide(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def be_dark(self, dark):
        self.call("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent",
                      {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": "\r" if code == 13 else ""})

    def taken(self, clip, scale):
        """A picture of a part of the page, in base64."""
        return self.call("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True,
                                                    "clip": {**clip, "scale": scale}})["data"]

    def picture(self, file):
        data = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
