"""The site: no link leads nowhere, no page complains in the console, the search finds pages and names, the list of pages
leads to each, and all is fit for a phone and for the dark. Pictures are left beside the site."""
import functools
import html.parser
import http.server
import os
import pathlib
import re
import sys
import threading
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
markup = re.compile(r"</?(?:tt|b|i|em|code|a|p|table|t[rdh]|h\d)\b[^<>]*>|@ref\b|`|\*\*|(?<!operator\[)\]\(")


def check_texts(site):
    for file in sorted(site.glob("*.html")):
        text = Page(file).text
        expect(len(text) > 20, f"{file.name} has text")
        for found in markup.finditer(text):
            expect(False, f"{file.name} shows markup: {' '.join(text[max(0, found.start() - 40):found.end() + 40].split())}")
    for line in (site / "names.js").read_text(encoding="utf-8").splitlines():
        expect(not markup.search(line), f"the search shows markup: {line}")


listed = (pathlib.Path(__file__).parents[2] / "doc/site/pages").read_text(encoding="utf-8").splitlines()


def check_words():
    words = " ".join(line.partition(";")[2] for line in listed if line.startswith(" ")).split()
    expect(words and len(set(words)) == len(words), f"a word leads to one page: {sorted(words)}")


def check_links(site):
    pages = {file.name: Page(file) for file in site.glob("*.html")}
    expect(pages, "there are pages")
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
    expect(count, "there are links")
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


# Tables that end with text, of which one has to move aside to see that. One of many columns may be so.
hidden = """Array.from(document.querySelectorAll('.markdownTable'), (e) => [e, Array.from(e.rows[0].cells)])
    .filter(([e, heads]) => heads.length < 8 && !heads.at(-1).className.endsWith('Right'))
    .filter(([e]) => [e, ...e.querySelectorAll('td')].some((part) => part.getBoundingClientRect().right > innerWidth)
        || e.scrollWidth > e.clientWidth)
    .map(([, heads]) => heads.map((head) => head.textContent.trim()).join(', '))"""


# Where an element is, and how wide, and whether one can see it.
seen = """(({left, top, width}) => [left, top, width])(document.querySelector(%r).getBoundingClientRect())"""


def look_at_navigation(there, address):
    """The list of pages leads to each, and so does one "next" after the other."""
    there.be_wide(1280)
    there.open(address + "index.html")
    links = there.value_of("Array.from(document.querySelectorAll('#sidebar a'), (e) => e.getAttribute('href'))")
    expect(links and len(set(links)) == len(links), f"the list has {len(links)} pages, each once")
    groups = there.value_of("Array.from(document.querySelectorAll('#sidebar summary'), (e) => e.textContent)")
    expect(groups == [line for line in listed if line and line[0] not in " #"], f"the groups are {groups}")
    for number, link in enumerate(links):
        current, is_open, heads = there.value_of("""(() => {
            const current = document.querySelectorAll('#sidebar [aria-current]');
            return [Array.from(current, (e) => e.getAttribute('href')),
                Array.from(current, (e) => e.checkVisibility()), document.querySelectorAll('h1').length];
        })()""")
        plain = link.partition("#")[0]
        expect(current == [link] and is_open == [True], f"{plain} is marked in the list, but {current}")
        expect(heads == 1, f"{plain} has {heads} headings of the first level")
        shown = there.value_of("location.pathname.split('/').pop()")
        expect(shown == plain, f"the next page is {link}, but {shown}")
        back = there.value_of("document.querySelector('#neighbours [rel=prev]')?.getAttribute('href')")
        expect(back == (links[number - 1] if number else None), f"before {link} is {back}")
        if number < len(links) - 1:
            there.click("document.querySelector('#neighbours [rel=next]')")
    expect(there.value_of("document.querySelector('#neighbours [rel=next]')") is None, "the last page is the last")

    there.open(address + "guide_operations.html")
    left, top, width = there.value_of(seen % ".toc")
    expect(left > 900 and left + width <= 1280 and top < 300, f"the contents are beside the page, but at {left}, {top}")
    there.follow_within("document.querySelector('.toc a[href$=\"a-ticker\"]')")
    top = there.value_of("document.getElementById('guide_operations_a-ticker').getBoundingClientRect().top")
    bar = there.value_of("document.querySelector('header').offsetHeight")
    expect(bar <= top < 900, f"a heading is at {top} where the contents lead")

    there.be_wide(390, 844)
    there.open(address + "guide_operations.html")
    left, top, width = there.value_of(seen % ".toc")
    expect(left < 40 and top < 200, f"on a phone the contents are above the page, but at {left}, {top}")
    is_shown = "document.getElementById('sidebar').checkVisibility()"
    expect(not there.value_of(is_shown), "on a phone the list of pages is behind a button")
    there.value_of("document.querySelector('header button').click()")
    expect(there.value_of(is_shown), "the button shows the list of pages")
    there.click("document.querySelector('#sidebar [aria-current] + a')")
    expect(not there.value_of(is_shown), "on the next page it is gone")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


# Words of the list of pages, and some of the text of each, which few other pages have all.
words_of_pages = """Array.from(document.querySelectorAll('#sidebar a[data-words]'),
    (e) => [e.getAttribute('href'), e.dataset.words.split(' ')])"""
longest_words = """Array.from(new Set(Array.from(document.querySelectorAll('.textblock > p'), (e) => e.textContent).join(' ')
    .match(/\\b[a-z]{4,}\\b/g))).sort((a, b) => b.length - a.length).slice(0, 3).join(' ')"""


def look_at_search(there, address, has_text):
    def type_in(wanted):
        there.open(address + "guide_testing.html")
        there.value_of("document.getElementById('search').focus()")
        there.type(wanted)
        there.wait_for(f"document.getElementById('found').dataset.wanted === {wanted!r}")
        return there.value_of("document.querySelector('#found a')?.getAttribute('href')")

    for wanted, leads_to in (("async_retry", "namespaceasio__retry.html#"), ("retry_policy::max_att", "retry__policy.html#"),
                             ("sigterm", "guide_server_shutdown.html"), ("retry-after", "guide_http_retry_after.html")):
        first = type_in(wanted)
        expect(first and leads_to in first, f"the search for {wanted} finds {first} first")
        there.follow(lambda: there.press("Enter", 13))
        expect(leads_to in there.value_of("location.href"), f"{wanted} leads to {there.value_of('location.href')}")

    there.open(address + "guide_testing.html")
    listed = there.value_of(words_of_pages)
    for page, words in listed:
        for word in words:
            first = there.value_of(f"find({word!r}).then(([first]) => first[2])")
            expect(first == page, f"the search for {word} finds {first} first and not {page}")
    if has_text:
        for page, _ in listed:
            there.open(address + page)
            if not there.value_of("!!document.querySelector('[data-pagefind-body]')"):
                continue # a table of names
            words = there.value_of(longest_words)
            found = there.value_of(f"pagefind.then((it) => it.search({words!r}))"
                                   ".then(({results}) => Promise.all(results.map((result) => result.data())))"
                                   ".then((all) => all.map(({raw_url}) => raw_url.replace(/^\\//, '')))")
            expect(page in found, f"the search for {words} finds {found} and not {page}, which has them")
        return # a word that no page has is taken for a similar one
    type_in("xyzzyx")
    expect(there.value_of("document.getElementById('found').textContent") == "nothing found", "nothing is found")


def has_text(site):
    return (site / "pagefind").exists()


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

        shown = ("index.html", "guide_http_retry_after.html", "classasio__retry_1_1retry__policy.html", "doc_traffic.html",
                 "namespaceasio__retry.html", "annotated.html", "doc_schemes.html")
        for dark in (False, True):
            there.be_dark(dark)
            for page in shown:
                there.be_wide(1280)
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
                there.be_wide(390, 844)
                there.call("Page.getLayoutMetrics")
                there.picture(site.parent / (name + "_phone.png"))
        there.be_dark(False)
        look_at_navigation(there, address)
        charts.look(there, expect, site)
        there.be_dark(False)
        there.be_wide(1280)

        look_at_search(there, address, False)
        if has_text(site):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            look_at_search(there, f"http://127.0.0.1:{server.server_port}/", True)
            for dark, width in ((False, 1280), (True, 390)):
                there.be_dark(dark)
                there.be_wide(width)
                there.open(f"http://127.0.0.1:{server.server_port}/index.html")
                there.value_of("document.getElementById('search').focus()")
                there.type("timeout")
                there.wait_for("document.querySelectorAll('#found a').length > 8")
                there.picture(site.parent / f"search_{width}.png")
        for complaint in there.complaints:
            expect(False, complaint)
    finally:
        there.close()


def main():
    site = pathlib.Path(sys.argv[1]) / "html"
    if not (site / "names.js").exists():
        print("there is no site: doxygen is missing")
        return 77
    pages = check_links(site)
    check_texts(site)
    check_words()
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
    if not has_text(site):
        print("there is no Pagefind: the search of the text was not tried; `./cmake/bootstrap.sh install-browser` gets npm")
        return 77 if not faults else 1
    return 1 if faults else 0


os.environ.setdefault("HOME", "/tmp")
sys.exit(main())
