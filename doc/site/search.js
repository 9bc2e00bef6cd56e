// Finds pages and public names while one types. names.awk has written `names`: titles, headings and public names.
// cmake/docs.sh has written `fullText`: whether Pagefind finds in the text of the pages. Pagefind needs a server, so a
// page that is opened as a file searches titles and headings.
const field = document.getElementById("search");
const list = document.getElementById("found");
const pagefind = fullText && location.protocol.startsWith("http") ? import("./pagefind/pagefind.js") : null;
if (!pagefind)
    field.placeholder = "Search titles";

// The better the smaller: the name itself, its last part, how it begins, where it has it.
function distance([name], wanted) {
    const lower = name.toLowerCase();
    const at = lower.indexOf(wanted);
    if (at < 0)
        return Infinity;
    const last = lower.split("::").pop();
    const place = [lower === wanted, last === wanted, lower.startsWith(wanted), last.startsWith(wanted), true].indexOf(true);
    return place * 1000 + Math.min(name.length, 400);
}

// Those of `names` that are pages or are not, as pairs of the distance and the entry.
function nearest(wanted, arePages) {
    return names.filter(([, kind]) => (kind === "page") === arePages)
        .map((entry) => [distance(entry, wanted), entry])
        .filter(([d]) => d < Infinity)
        .sort(([a], [b]) => a - b);
}

// Pages for which doc/site/pages names one of the words; first those that have a whole word.
function listed(wanted) {
    const spaced = (text) => ` ${text.replace(/[-\s]+/g, " ").trim()} `;
    const typed = spaced(wanted);
    const isWhole = (word) => typed.includes(spaced(word));
    return Array.from(document.querySelectorAll("#sidebar a[data-words]"), (link) => [link, link.dataset.words.split(" ")])
        .filter(([, words]) => words.some((word) => isWhole(word) || spaced(word).startsWith(typed.trimEnd())))
        .sort(([, a], [, b]) => b.some(isWhole) - a.some(isWhole))
        .map(([link]) => [link.textContent, "page", link.getAttribute("href"), ""]);
}

// What stands in the text that is escaped as HTML.
function unescaped(html) {
    return new DOMParser().parseFromString(html, "text/html").body.textContent;
}

async function inText(wanted) {
    const found = await (await pagefind).search(wanted);
    const pages = await Promise.all(found.results.slice(0, 8).map((result) => result.data()));
    return pages.map(({raw_url, meta, sub_results, plain_excerpt}) => {
        const [part] = sub_results.sort((a, b) => b.locations.length - a.locations.length);
        const title = meta.title.replace(/^asio_retry::| (Class|Struct|Concept|Namespace)( Template)? Reference.*/g, "");
        const heading = part && part.url.includes("#") ? " \u203a " + part.title : "";
        const address = (part ? part.url : raw_url).replace(/^.*\//, "").replace(/^(?=#|$)/, "index.html");
        return [title + heading, "page", address, unescaped(plain_excerpt)];
    });
}

async function find(wanted) {
    const pages = pagefind ? await inText(wanted) : nearest(wanted, true).map(([, entry]) => entry);
    const known = nearest(wanted, false);
    const isName = /_|::/.test(wanted);
    const first = known.filter(([d]) => isName || d < 1000), others = known.slice(first.length);
    const entries = (pairs) => pairs.map(([, entry]) => entry);
    const all = [...listed(wanted), ...entries(first), ...pages.slice(0, 8), ...entries(others)];
    const addresses = all.map(([, , address]) => address);
    return all.filter(([, , address], i) => addresses.indexOf(address) === i).slice(0, 20);
}

async function show() {
    const wanted = field.value.trim().toLowerCase();
    const found = wanted ? await find(wanted) : [];
    if (wanted !== field.value.trim().toLowerCase())
        return; // one has typed on
    list.replaceChildren(...found.map(([name, kind, address, more]) => {
        const link = document.createElement("a");
        link.href = address;
        link.textContent = name;
        const given = document.createElement("small");
        given.textContent = more;
        const what = document.createElement("span");
        what.textContent = kind;
        const item = document.createElement("li");
        link.append(given, what);
        item.append(link);
        return item;
    }));
    if (wanted && !found.length)
        list.append(Object.assign(document.createElement("li"), {textContent: "nothing found"}));
    list.hidden = !wanted;
    list.dataset.wanted = wanted; // for whoever waits for it
    choose(0);
}

function choose(index) {
    const links = list.querySelectorAll("a");
    chosen = Math.max(0, Math.min(index, links.length - 1));
    links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
}

let chosen = 0;
field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
    const links = list.querySelectorAll("a");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
        event.preventDefault();
    } else if (event.key === "Enter" && links.length)
        links[chosen].click();
    else if (event.key === "Escape")
        list.hidden = true;
});
document.addEventListener("click", (event) => {
    if (!event.target.closest(".search") || event.target.closest("a"))
        list.hidden = true;
});
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
        field.focus();
        event.preventDefault();
    }
});
