"""Charts: whether every text of one can be read on what is behind it, alone in a window and on the pages of the site, in
the light and in the dark. What counts is pixels: a picture with the texts and one without tell both colours apart."""
import base64
import json
import pathlib

doc = pathlib.Path(__file__).parents[2] / "doc"
least_contrast = 4.5 # of WCAG 2, for text of usual size

without_texts = "<style>text { visibility: hidden }</style>"

# Places of the texts in the chart's own units.
places = """(() => {
    const from = document.documentElement.getBoundingClientRect();
    return Array.from(document.querySelectorAll('text')).filter((e) => e.textContent.trim()).map((e) => {
        const r = e.getBoundingClientRect();
        return {text: e.textContent, left: r.left - from.left, top: r.top - from.top, width: r.width, height: r.height};
    });
})()"""

# The charts of a page.
shown = """Array.from(document.querySelectorAll('object[type="image/svg+xml"], img[src$=".svg"]'), (e) => {
    e.classList.add('chart');
    return e.data || e.src;
})"""

# Where one of them is, in view: a browser does not draw what is out of it.
in_view = """(async () => {
    const e = document.querySelectorAll('.chart')[%d];
    e.scrollIntoView({block: 'center', behavior: 'instant'});
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const {left, top, width, height} = e.getBoundingClientRect();
    return {x: left + scrollX, y: top + scrollY, width, height};
})()"""

# Shows something else in its place.
put = """((index, address) => new Promise((done) => {
    const e = document.querySelectorAll('.chart')[index];
    e.onload = () => requestAnimationFrame(() => requestAnimationFrame(done));
    if (e.data) e.data = address; else e.src = address;
}))(%d, %s)"""

# The least contrast of each text. Its colour is where both pictures differ most, and behind it is all that differs.
contrasts = """(async (texts, scale, ...pictures) => {
    const [all, bare] = await Promise.all(pictures.map(async (picture) => {
        const bytes = Uint8Array.from(atob(picture), (c) => c.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
        const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
        canvas.drawImage(image, 0, 0);
        const {data, width, height} = canvas.getImageData(0, 0, image.width, image.height);
        return {pixels: new Uint32Array(data.buffer), width, height};
    }));
    const parts = (pixel) => [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255];
    const light = (pixel) => {
        const [r, g, b] = parts(pixel).map((v) => v / 255)
            .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return texts.map(({text, left, top, width, height}) => {
        let most = 0, ink = 0;
        const behind = new Set();
        for (let y = Math.max(0, Math.floor(top * scale)); y < Math.min(all.height, (top + height) * scale); ++y)
            for (let x = Math.max(0, Math.floor(left * scale)); x < Math.min(all.width, (left + width) * scale); ++x) {
                const above = all.pixels[y * all.width + x], below = bare.pixels[y * all.width + x];
                if (above === below) continue;
                behind.add(below);
                const one = parts(above), other = parts(below);
                const difference = one.reduce((sum, v, i) => sum + Math.abs(v - other[i]), 0);
                if (difference > most) [most, ink] = [difference, above];
            }
        const ratios = Array.from(behind, (pixel) => {
            const a = light(ink), b = light(pixel);
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        });
        return {text, ratio: most ? Math.min(...ratios) : 1};
    });
})(%s, %f, %s, %s)"""


def expect_contrast(there, expect, what, texts, scale, pictures):
    found = there.value_of(contrasts % (json.dumps(texts), scale, *map(json.dumps, pictures)))
    expect(len(found) > 5, f"{what} has texts")
    worst = min(found, key=lambda each: each["ratio"])
    expect(worst["ratio"] >= least_contrast, f"{what}: \"{worst['text']}\" has a contrast of {worst['ratio']:.1f}")


def look_at_alone(there, expect, charts):
    """Returns where the texts of each are."""
    texts = {}
    there.be_wide(1200, 1200) # the highest picture is in view
    for chart in charts:
        there.open(chart.as_uri())
        texts[chart.name] = there.value_of(places)
        size = there.value_of("(({width, height}) => ({x: 0, y: 0, width, height}))"
                              "(document.documentElement.getBoundingClientRect())")
        pictures = []
        for dark in (False, True):
            there.be_dark(dark)
            pictures.append(there.taken(size, 2))
        there.value_of("document.documentElement.insertAdjacentHTML('beforeend', " + json.dumps(without_texts) + ")")
        for dark in (True, False):
            there.be_dark(dark)
            expect_contrast(there, expect, chart.name + (" alone in the dark" if dark else " alone"), texts[chart.name], 2,
                            (pictures[dark], there.taken(size, 2)))
    return texts


def look_at_page(there, expect, address, files, texts):
    """Returns the names of the charts on that page."""
    names = []
    for dark in (False, True):
        there.be_dark(dark)
        there.open(address)
        names = [pathlib.PurePosixPath(address).name for address in there.value_of(shown)]
        for index, name in enumerate(names):
            clip = there.value_of(in_view % index)
            source = files[name].read_text(encoding="utf-8")
            scale = 2 * clip["width"] / float(source.split(' width="')[1].split('"')[0])
            whole = there.taken(clip, 2)
            bare = base64.b64encode(source.replace("</svg>", without_texts + "</svg>").encode()).decode()
            there.value_of(put % (index, json.dumps("data:image/svg+xml;base64," + bare)))
            what = f"{name} on {address.rpartition('/')[2]}" + (" in the dark" if dark else "")
            expect_contrast(there, expect, what, texts[name], scale, (whole, there.taken(clip, 2)))
    return names


def look(there, expect, site):
    charts = sorted(doc.rglob("*.svg"))
    files = {file.name: file for file in charts}
    expect(len(charts) > 30, "there are more than 30 charts")
    expect(len(files) == len(charts), "every chart has a name of its own, as all are in one folder of the site")
    texts = look_at_alone(there, expect, charts)
    seen = set()
    there.be_wide(1200, 1200) # the highest picture is in view
    for page in sorted(site.glob("*.html")):
        if '.svg"' in page.read_text(encoding="utf-8"):
            seen.update(look_at_page(there, expect, page.resolve().as_uri(), files, texts))
    expect(seen == set(files), f"every chart is on a page, but {sorted(seen ^ set(files))}")
