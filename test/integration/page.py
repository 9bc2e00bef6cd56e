#!/usr/bin/env python3
"""The page of the gateway in a headless Chromium: a server is stopped, and the page shows it.
usage: page.py GATEWAY FOLDER-FOR-PICTURES"""
import http.client
import os
import re
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
import browser  # noqa: E402
from expectation import exit_code, expect  # noqa: E402


def wait_until(page, expression, what, meanwhile=lambda: None):
    """For as long as a busy machine may take; what never comes fails."""
    for _ in range(300):
        meanwhile()
        try:
            if page.value_of(expression):
                return
        except RuntimeError:  # the page before is still there
            pass
        time.sleep(0.1)
    raise SystemExit("never: " + what + "\n" + str(page.value_of("document.body.innerText")))


def number(page, name):
    return int(page.value_of(f"document.getElementById('{name}').textContent").replace(",", ""))


def state(index):
    return f"document.querySelectorAll('#upstreams .state')[{index}].textContent.slice(2)"


def button(index):
    return f"document.querySelectorAll('#upstreams button')[{index}]"


def first_view(page, height):
    """The text of what nobody has to scroll for."""
    return page.value_of("""Array.from(document.querySelectorAll('h2, p, button, dd')).filter((e) =>
        e.offsetParent && e.getBoundingClientRect().bottom <= %d).map((e) => e.innerText).join('\\n')""" % height)


# In a test whose servers refuse connections, or lose those that they have.
causes = ("endpoint_set refused the attempt: the circuit breaker is open", "Connection refused",
          "Connection reset by peer", "end of stream")
ends = ("", "endpoint_set refused the attempt: the circuit breaker is open", "retry_budget refused the retry",
        "no attempt is left")


def ask_for(address, target):
    """Whatever the answer is, and without the escapes of urllib."""
    host, port = re.search(r"//(.*):(\d+)", address).groups()
    connection = http.client.HTTPConnection(host, int(port))
    connection.request("GET", target)
    connection.getresponse().read()
    connection.close()


def failures(page):
    """The cause of each failure that is shown, and why no further attempt was made."""
    return page.value_of("""Array.from(document.querySelectorAll('#failures tr')).map((row) =>
        [row.cells[1].firstChild.data, row.cells[1].lastChild.textContent])""")


def main(gateway, pictures):
    if not browser.find_chromium():
        print("skipped: there is no chromium here; ./cmake/bootstrap.sh install-browser gets it")
        return 77
    os.makedirs(pictures, exist_ok=True)
    process = subprocess.Popen([gateway, "--demo", "--quiet", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                               text=True)
    page = None
    try:
        address = next(re.search(r"http://\S+", line)[0] for line in process.stdout if "http://" in line)
        html = urllib.request.urlopen(address).read().decode()
        expect(not re.search(r"""(src|href)\s*=\s*(?!["']?data:)""", html), "nothing is loaded from elsewhere")

        page = browser.Browser()
        page.be_wide(1100, 1250)
        page.be_dark(False)
        page.open(address)
        wait_until(page, "Number(document.getElementById('at_once').textContent) > 20", "requests are answered")
        expect(page.value_of("document.querySelectorAll('#upstreams li').length") == 3, "there are three servers")
        expect(number(page, "given_up") == 0, "nothing is given up while all is well")
        for width, height in ((390, 844), (1100, 1250)):
            page.be_wide(width, height)
            expect("Stop a server and watch" in first_view(page, height), f"{width} wide it invites to stop a server")
            expect(first_view(page, height).count("Stop") >= 3, f"{width} wide three buttons are in the first view")

        # One is stopped, with the keyboard: its breaker opens, and requests are answered after retries.
        for _ in range(10):
            if page.value_of(f"document.activeElement === {button(0)}"):
                break
            page.press("Tab", 9)
        expect(page.value_of(f"document.activeElement === {button(0)}"), "a button can be reached with Tab")
        page.press("Enter", 13)
        wait_until(page, f"{button(0)}.textContent === 'Start'", "the server is stopped")
        wait_until(page, "Number(document.getElementById('after_retries').textContent) > 0", "retries succeed")
        wait_until(page, state(0) + " === 'open'", "its breaker is open")
        expect(page.value_of(f"document.activeElement === {button(0)}"), "the button keeps the focus")
        expect(page.value_of("document.querySelectorAll('#delays_chart rect').length") == 10, "delays have bars")
        expect(number(page, "given_up") == 0, "nothing is given up while two work")

        # All of them: requests are given up, and it says why.
        page.value_of(f"{button(1)}.click(), {button(2)}.click()")
        wait_until(page, "document.querySelectorAll('#failures td').length > 6", "a failure is shown")
        row = page.value_of("document.querySelector('#failures tr').innerText")
        expect("GET /hello" in row and "50" in row, "a failure has its request and its answer: " + row)
        wait_until(page, "rates('given_up').at(-1) > 20 && rates('at_once').at(-1) === 0", "all requests are given up")
        wait_until(page, "rates('attempts').at(-1) < rates('requests').at(-1) / 2", "attempts are what servers are asked")
        expect(page.value_of("Number(document.getElementById('attempts_rate').textContent) < rates('requests').at(-1)"),
               "the number says so too")
        wait_until(page, "document.getElementById('failures').innerText.includes('circuit breaker is open')",
                   "its cause")
        for cause, end in failures(page):
            expect(cause in causes and end in ends and cause != end, f"a failure has its cause: {cause}, {end}")
        wait_until(page, "document.getElementById('failures').innerText.includes('/<b>bold</b>')", "text stays text",
                   lambda: ask_for(address, "/<b>bold</b>"))
        wait_until(page, "document.getElementById('invitation').textContent.startsWith('Start a server')", "it says how to go on")
        wait_until(page, "Number(document.getElementById('given_up').textContent) > 0", "requests are given up")
        time.sleep(3)  # for the pictures: some seconds of it in the charts
        page.picture(os.path.join(pictures, "light.png"))
        page.be_dark(True)
        background = "getComputedStyle(document.body).backgroundColor"
        expect(page.value_of(background) == "rgb(15, 19, 24)", "it is dark where that is wanted")
        page.picture(os.path.join(pictures, "dark.png"))
        page.be_wide(375, 1900)
        expect(page.value_of("document.documentElement.scrollWidth") <= 375, "it fits a phone")
        page.picture(os.path.join(pictures, "phone.png"))

        # And back.
        page.value_of(f"{button(0)}.click(), {button(1)}.click(), {button(2)}.click()")
        for i in range(3):
            wait_until(page, state(i) + " === 'closed'", "the breaker closes")
        counted = number(page, "at_once")
        wait_until(page, f"Number(document.getElementById('at_once').textContent.replace(',', '')) > {counted}",
                   "requests are answered again")
        expect(page.complaints == [], "no complaint: " + str(page.complaints))
        process.terminate()
        expect(process.wait() == 0, "it ends with 0")
    finally:
        if page:
            page.close()
        if process.poll() is None:
            process.kill()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
