"""The site: no link leads nowhere, no page complains in the console, the search finds names, and it is fit for a phone
and for the dark. Pictures are left beside the site."""
import html.parser
import os
import pathlib
import re
import sys
import urllib.parse

import browser
import charts

faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)
        print("FAILED:", what)


class Page(html.parser.HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.names, self.links = set(), []
        self.text, self.code = "", [] # what is not code, and the elements of code that are open
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if self.code or tag in ("code", "pre", "script", "style") or given.get("class") in ("fragment", "memproto"):
            if tag not in ("br", "hr", "img", "input", "link", "meta"):
                self.code.append(tag)
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.names.add(value)
            elif name in ("href", "src", "data") and value:
                self.links.append(value)

    def handle_endtag(self, tag):
        if self.code and self.code[-1] == tag:
            self.code.pop()

    def handle_data(self, data):
        if not self.code:
            self.text += data


# What is meant for Doxygen or for a browser and not for a reader.
markup = re.compile(r"</?(?:tt|b|i|em|code|a|p|table|t[rdh]|h\d)\b[^<>]*>|@ref\b|`|\*\*|\]\(")


def check_texts(site):
    for file in sorted(site.glob("*.html")):
        text = Page(file).text
        expect(len(text) > 20, f"{file.name} has text")
        for found in markup.finditer(text):
            expect(False, f"{file.name} shows markup: {' '.join(text[max(0, found.start() - 40):found.end() + 40].split())}")
    for line in (site / "names.js").read_text(encoding="utf-8").splitlines():
        expect(not markup.search(line), f"the search shows markup: {line}")


def check_links(site):
    pages = {file.name: Page(file) for file in site.glob("*.html")}
    expect(len(pages) > 60, "there are more than 60 pages")
    count = 0
    for name, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme in ("https", "data", "javascript"):
                expect(parts.scheme != "https" or not link.endswith((".js", ".css")), f"{name} loads {link} from elsewhere")
                continue
            count += 1
            target = urllib.parse.unquote(parts.path) or name
            expect((site / target).exists(), f"{name} links {link}")
            if parts.fragment and target in pages:
                expect(urllib.parse.unquote(parts.fragment) in pages[target].names, f"{name} links {link}")
    expect(count > 3000, "there are more than 3000 links")
    return sorted(pages)


# Whether text can be read on what is behind it: the ratio of WCAG.
contrast = """(() => {
    const light = (c) => {
        const [r, g, b] = c.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)
            .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (e) => {
        for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$/.test(c)) return c;
        }
        return 'rgb(255, 255, 255)';
    };
    let least = 21;
    for (const e of document.querySelectorAll('p, a, code, td, h1, h2, .line, .comment, .keyword, .stringliteral, input')) {
        if (!e.textContent.trim() || !e.offsetParent) continue;
        const a = light(getComputedStyle(e).color), b = light(behind(e));
        least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
    }
    return least;
})()"""


# Tables of few columns that end with text, of which one has to move aside to see that.
hidden = """Array.from(document.querySelectorAll('.markdownTable'), (e) => [e, Array.from(e.rows[0].cells)])
    .filter(([e, heads]) => heads.length <= 4 && !heads.at(-1).className.endsWith('Right'))
    .filter(([e]) => [e, ...e.querySelectorAll('td')].some((part) => part.getBoundingClientRect().right > innerWidth)
        || e.scrollWidth > e.clientWidth)
    .map(([, heads]) => heads.map((head) => head.textContent.trim()).join(', '))"""


def look_at_navigation(there, address):
    """What is above every page leads to where its name is."""
    for width in (1200, 390):
        there.be_wide(width)
        for number, heading in enumerate(("The guide", "Functions", "Class List", "File List")):
            there.open(address + "toolchains.html")
            there.follow(f"document.querySelectorAll('nav a')[{number}]")
            top, least, height = there.value_of(f"""(() => {{
                const head = Array.from(document.querySelectorAll('h1, h2, .title'))
                    .find((e) => e.textContent.trim() === '{heading}');
                const bar = document.getElementById('top');
                return [head ? head.getBoundingClientRect().top : -1,
                    getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0, innerHeight];
            }})()""")
            expect(least <= top < height / 3, f"{heading} is at {top} of {height} where the navigation leads, {width} wide")


def look(there, site, pages):
    address = site.resolve().as_uri() + "/"
    try:
        there.be_dark(False)
        there.be_wide(375)
        for page in pages:
            if "-members" in page or page.startswith("functions"):
                continue # lists, of which nobody is led to most
            there.open(address + page)
            width = there.value_of("document.documentElement.scrollWidth")
            expect(width <= 375, f"{page} is {width} wide on a phone")
            for table in there.value_of(hidden):
                expect(False, f"on a phone {page} hides the end of the table of {table}")
            for complaint in there.complaints:
                expect(False, f"{page}: {complaint}")
            there.complaints.clear()

        shown = ("index.html", "guide_http_retry_after.html", "classasio__retry_1_1retry__policy.html", "traffic.html",
                 "namespaceasio__retry.html", "annotated.html", "schemes.html")
        for dark in (False, True):
            there.be_dark(dark)
            for page in shown:
                there.be_wide(1200)
                there.open(address + page)
                name = page[:-5] + ("_dark" if dark else "")
                there.picture(site.parent / (name + ".png"))
                broken = there.value_of("Array.from(document.images).filter((e) => !e.naturalWidth).map((e) => e.currentSrc)")
                expect(broken == [], f"{name} has images that cannot be shown: {broken}")
                if page == "index.html":
                    image = there.value_of("document.querySelector('picture img').currentSrc.split('/').pop()")
                    expect(image == ("demo_dark.png" if dark else "demo.png"), f"{name} shows {image}")
                ratio = there.value_of(contrast)
                expect(ratio >= 4.5, f"{name} has text of contrast {ratio:.1f}")
                backdrop = there.value_of("getComputedStyle(document.body).backgroundColor")
                expect((int(backdrop[4:].split(",")[0]) < 60) == dark, f"{name} is on {backdrop}")
                there.be_wide(375, 812)
                there.call("Page.getLayoutMetrics")
                there.picture(site.parent / (name + "_phone.png"))
        there.be_dark(False)
        look_at_navigation(there, address)
        charts.look(there, expect, site)
        there.be_dark(False)
        there.be_wide(1200)

        for wanted, leads_to in (("async_retry", "namespaceasio__retry.html#"), ("retry_policy::max_att", "retry__policy.html#"),
                                 ("retry-after", "guide_http_retry_after.html")):
            there.open(address + "guide_testing.html")
            there.value_of("document.getElementById('search').focus()")
            there.type(wanted)
            first = there.value_of("document.querySelector('#found a').textContent")
            expect(wanted in first.lower(), f"the search for {wanted} finds {first} first")
            if wanted == "async_retry":
                there.picture(site.parent / "search.png")
            there.press("Enter", 13)
            while "guide_testing" in there.value_of("location.href") or \
                    there.value_of("document.readyState") != "complete":
                pass
            expect(leads_to in there.value_of("location.href"), f"{wanted} leads to {there.value_of('location.href')}")
        there.open(address + "index.html")
        there.value_of("document.getElementById('search').focus()")
        there.type("no such name")
        expect(there.value_of("document.getElementById('found').textContent") == "nothing found", "nothing is found")
    finally:
        there.close()


def main():
    site = pathlib.Path(sys.argv[1]) / "html"
    if not (site / "names.js").exists():
        print("there is no site: doxygen is missing")
        return 77
    pages = check_links(site)
    check_texts(site)
    if not browser.find_chromium():
        print("there is no chromium: `./cmake/bootstrap.sh install-browser` gets it")
        return 77 if not faults else 1
    try:
        there = browser.Browser()
    except (OSError, RuntimeError) as e: # a stub of one that would be fetched from elsewhere
        print(f"the browser does not start: {e}")
        return 77 if not faults else 1
    look(there, site, pages)
    print(f"{len(pages)} pages, {len(faults)} faults; pictures in {site.parent}")
    return 1 if faults else 0


os.environ.setdefault("HOME", "/tmp")
sys.exit(main())
