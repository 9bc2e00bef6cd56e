// Finds public names, pages and headings while one types. `names` is what names.awk has written.
const field = document.getElementById("search");
const list = document.getElementById("found");
let chosen = 0;

// The better the smaller: the name itself, its last part, how it begins, where it has it. Pages come after names.
function distance([name, kind], wanted) {
    const lower = name.toLowerCase();
    const at = lower.indexOf(wanted);
    if (at < 0)
        return Infinity;
    const last = lower.split("::").pop();
    const place = lower === wanted ? 0 : last === wanted ? 1 : lower.startsWith(wanted) ? 2 : last.startsWith(wanted) ? 3 : 4;
    return place * 1000 + (kind === "page" ? 500 : 0) + Math.min(name.length, 400);
}

function find(wanted) {
    return names.map((entry) => [distance(entry, wanted), entry])
        .filter(([d]) => d < Infinity)
        .sort(([a], [b]) => a - b)
        .slice(0, 20)
        .map(([, entry]) => entry);
}

function show() {
    const wanted = field.value.trim().toLowerCase();
    list.replaceChildren(...(wanted ? find(wanted) : []).map(([name, kind, address, parameters]) => {
        const link = document.createElement("a");
        link.href = field.dataset.root + address;
        link.textContent = name;
        const given = document.createElement("small");
        given.textContent = parameters;
        const what = document.createElement("span");
        what.textContent = kind;
        const item = document.createElement("li");
        link.append(given, what);
        item.append(link);
        return item;
    }));
    if (wanted && !list.children.length)
        list.append(Object.assign(document.createElement("li"), {textContent: "nothing found"}));
    list.hidden = !wanted;
    choose(0);
}

function choose(index) {
    const links = list.querySelectorAll("a");
    chosen = Math.max(0, Math.min(index, links.length - 1));
    links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
}

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
    if (!event.target.closest(".search"))
        list.hidden = true;
    else if (event.target.closest("a"))
        list.hidden = true;
});
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
        field.focus();
        event.preventDefault();
    }
});
