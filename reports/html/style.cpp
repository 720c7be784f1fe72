// The page's style sheet and its script. The script is well-formed as XML too, so it has no less-than sign and no
// ampersand.
#include "reports/html/document.hpp"

namespace tally {
namespace {

constexpr const char* colour_rules = R"(
:root{color-scheme:light dark;
--fg:light-dark(#1a1a1a,#e8e8e8);--muted:light-dark(#575757,#a8a8a8);--bg:light-dark(#fff,#141414);
--panel:light-dark(#f6f7f9,#1d1f22);--line:light-dark(#d5d8dd,#3a3d42);--link:light-dark(#0b57d0,#8ab4f8);
--bad:light-dark(#b00020,#ff8a80);--bad-bg:light-dark(#fdecee,#3a1d20);
--ok:light-dark(#006b3c,#7ddc9f);--ok-bg:light-dark(#edf7f1,#17291f);
--warn:light-dark(#7a4a00,#f0b060);--warn-bg:light-dark(#fff5e5,#33270f)}
:root:has(#theme-light:checked){color-scheme:light}
:root:has(#theme-dark:checked){color-scheme:dark}
)";

constexpr const char* text = R"(
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
h1{font-size:clamp(1.25rem,3vw,1.65rem);line-height:1.25;margin:.2rem 0 .6rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:2.6rem 0 .6rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}
h2,h3,tr,article{scroll-margin-top:1rem}
p{margin:.4rem 0;max-width:52rem;overflow-wrap:anywhere}
a{color:var(--link)}a:focus-visible,input:focus-visible,summary:focus-visible,.scroll:focus-visible,.formula:focus-visible{
outline:2px solid var(--link);outline-offset:2px}
code{font:.9em ui-monospace,"SF Mono",Consolas,monospace;overflow-wrap:anywhere}
.skip{position:absolute;left:-99rem}.skip:focus{position:static;display:inline-block;padding:.4rem .8rem}
.muted,.eyebrow{color:var(--muted)}.eyebrow{margin:1.4rem 0 0}
.verdict{border-left:6px solid var(--muted);background:var(--panel);padding:.9rem 1.1rem;border-radius:4px;margin:.6rem 0}
.verdict.pass{border-color:var(--ok);background:var(--ok-bg)}
.verdict.fail,.verdict.error{border-color:var(--bad);background:var(--bad-bg)}
.verdict.vacuous,.verdict.not_run{border-color:var(--warn);background:var(--warn-bg)}
.word{display:inline-block;margin-right:.5rem}
.pass .word,.s.pass,.s.pass a{color:var(--ok)}.fail .word,.error .word,.s.fail,.s.error,.s.fail a{color:var(--bad)}
.s.vacuous,.s.not_run,.vacuous .word,.not_run .word,.warn{color:var(--warn)}.s,.warn{font-weight:600;white-space:nowrap}
.warn,.bad{white-space:normal}.bad{color:var(--bad);font-weight:600}
.chips{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;margin:.6rem 0;padding:0;list-style:none}
)";

constexpr const char* parts = R"(
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.8rem 0;padding:0;list-style:none}
nav a{display:inline-block;padding:.25rem 0;min-height:24px}
.bar{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;align-items:center}
fieldset{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.1rem .9rem;align-items:center}
legend{float:left;color:var(--muted);padding:0;margin-right:.2rem}
label{display:inline-flex;align-items:center;gap:.3rem;min-height:24px}
.scroll{overflow-x:auto;margin:.6rem 0 1rem;position:relative}
table{border-collapse:collapse;font-size:.9rem;min-width:100%}
caption{text-align:left;color:var(--muted);padding:.2rem 0 .4rem}
th,td{padding:.34rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
thead th{border-bottom:2px solid var(--line);font-weight:600;vertical-align:bottom}
tbody th{font-weight:600}td,th.n{text-align:right;font-variant-numeric:tabular-nums}td{white-space:nowrap}
td.t{text-align:left;font-variant-numeric:normal;white-space:normal}
td.tint-fail,td.tint-error{background:var(--bad-bg)}td.tint-pass{background:var(--ok-bg)}
td.tint-vacuous,td.tint-not_run{background:var(--warn-bg)}
tr:target>*,article:target{background:var(--warn-bg)}
td p{margin:0;min-width:13rem}td code{overflow-wrap:normal;white-space:nowrap}
td code.long{white-space:normal}td details{margin:0}
td code.wide{display:block;width:26rem;white-space:normal;overflow-wrap:anywhere}td small,th small{display:block;font-weight:400;color:var(--muted)}
header:has(#rows-notable:checked)~main tr[data-s=pass]{display:none}
.gone{display:none}
header:has(#rows-failing:checked)~main tr[data-s]:not([data-s=fail]):not([data-s=error]){display:none}
figure{margin:1rem 0}figcaption{max-width:52rem;margin-bottom:.5rem}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,270px),1fr));gap:1rem}
.panels svg{width:100%;height:auto;max-width:440px}
.panels div>p{margin:.1rem 0 .2rem;font-size:.9rem}
svg{max-width:100%;display:block}figure svg{height:auto}
.studies{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:.4rem 1.6rem}
.studies figure{margin:.6rem 0;min-width:0;max-width:40rem}.studies .scroll{margin:.3rem 0}.studies svg{width:100%;min-width:27rem;height:auto}
pre{background:var(--panel);border-left:3px solid var(--line);padding:.6rem .8rem;overflow-x:auto;margin:.6rem 0;
font:.85rem/1.45 ui-monospace,"SF Mono",Consolas,monospace}pre:focus-visible,button:focus-visible{outline:2px solid var(--link)}
button{font:inherit;color:inherit;background:none;border:0;padding:0;min-height:24px;min-width:24px;cursor:pointer}
th button{font-weight:600;text-align:inherit}th[aria-sort=ascending] button::after{content:" \2191"}
th[aria-sort=descending] button::after{content:" \2193"}
.copier{color:var(--link);margin:0 .5rem;text-decoration:underline}
input[type=search]{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--muted);border-radius:3px;padding:.1rem .4rem;width:11rem}
[hidden]{display:none}.formula{max-width:none;overflow:auto hidden}math{font-size:1.1rem}
footer{color:var(--muted);font-size:.85rem;padding-bottom:2rem}
details{margin:.5rem 0}summary{cursor:pointer;min-height:24px;color:var(--link)}
article{border:1px solid var(--line);border-left:4px solid var(--bad);border-radius:4px;padding:.2rem 1rem .6rem;
margin:1rem 0;scroll-margin-top:1rem}
article h3{margin-top:.7rem}
dl{margin:.5rem 0;display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.35rem 1.2rem}
dt{font-weight:600}dd{margin:0;max-width:48rem}
.grid td,.grid thead th{text-align:center;white-space:normal;padding:.3rem .35rem;min-width:2.1rem}
.grid table{min-width:0}.grid caption{white-space:nowrap}.grid tbody th{position:sticky;left:0;background:var(--bg)}.grid td.first{outline:2px solid var(--bad);outline-offset:-2px}
main{padding-bottom:3rem}
)";

constexpr const char* drawings = R"(
.s.i-axis{stroke:light-dark(#6b6b6b,#9a9a9a)}.s.i-grid{stroke:light-dark(#dcdcdc,#33363b)}.f.i-text{fill:var(--muted)}
.s.i-bad{stroke:var(--bad)}.f.i-bad{fill:var(--bad)}.s.i-ok{stroke:var(--ok)}.f.i-ok{fill:var(--ok)}
.s.i-0{stroke:light-dark(#0b57d0,#8ab4f8)}.s.i-1{stroke:light-dark(#8a4b00,#f0b060)}
.s.i-2{stroke:light-dark(#6a1b9a,#d0a0ff)}.s.i-3{stroke:light-dark(#006b5e,#60d0c0)}
.s.i-4{stroke:light-dark(#a3006b,#ff90d0)}.s.i-5{stroke:light-dark(#4f5b00,#c8d25a)}
.f.i-0{fill:light-dark(#0b57d0,#8ab4f8)}.f.i-1{fill:light-dark(#8a4b00,#f0b060)}
.f.i-2{fill:light-dark(#6a1b9a,#d0a0ff)}.f.i-3{fill:light-dark(#006b5e,#60d0c0)}
.f.i-4{fill:light-dark(#a3006b,#ff90d0)}.f.i-5{fill:light-dark(#4f5b00,#c8d25a)}
.f.i-grid{fill:light-dark(#dcdcdc,#33363b)}
@media (max-width:40rem){dl{grid-template-columns:1fr}dt{margin-top:.4rem}th,td{padding:.3rem .45rem}}
@media screen{main section{content-visibility:auto;contain-intrinsic-size:auto 60rem;margin:0 -.4rem;padding:0 .4rem}}
@media print{table{font-size:.68rem}th,td{padding:.2rem .3rem}td,td code{white-space:normal;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere}.bar,nav,.skip,.copier{display:none}tr,figure,article{break-inside:avoid}thead{display:table-header-group}
.scroll{overflow:visible}details::details-content{content-visibility:visible;block-size:auto}}
)";

}  // namespace

std::string style_sheet() { return std::string(colour_rules) + text + parts + drawings + precision_rules(); }

// The page's script: sorting, the text filter and copying. Well-formed as XML too, so it has no less-than sign and no
// ampersand.
namespace {

constexpr const char* sorting = R"(
const text = row => c => row.cells[c].firstChild ? row.cells[c].innerText.trim() : '';
const number = word => parseFloat(word.replace(/[^0-9.eE+inf-]/g, '').replace('inf', 'Infinity'));
const order = (rows, column, numeric, sign) => rows.map((row, i) => [text(row)(column), i, row]).sort((a, b) => {
  const [x, y] = numeric ? [number(a[0]), number(b[0])] : [a[0], b[0]];
  if (numeric ? isNaN(x) || isNaN(y) : false) return isNaN(x) - isNaN(y) || a[1] - b[1];
  return sign * (numeric ? Math.sign(x - y) || 0 : x.localeCompare(y, 'en')) || a[1] - b[1];
}).map(entry => entry[2]);
for (const head of document.querySelectorAll('thead th')) {
  const table = head.closest('table');
  if (3 > table.tBodies[0].rows.length) continue;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener('click', () => {
    const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
    table.tBodies[0].append(...order([...table.tBodies[0].rows], head.cellIndex, head.className === 'n', sign));
  });
}
)";

constexpr const char* filtering = R"(
const filter = document.getElementById('filter'), rows = document.querySelectorAll('tr[data-s],article[data-q]');
const kept = () => new URLSearchParams(location.hash.startsWith('#?') ? location.hash.slice(2) : '');
const chosen = name => {
  const radio = document.querySelector('input[name=' + name + ']:checked');
  return radio ? radio.id.slice(name.length + 1) : 'all';
};
const views = [['rows', 's'], ['precision', 'p']];
const apply = () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(word => word);
  let shown = 0;
  for (const row of rows) {
    const here = row.textContent.toLowerCase(), fits = words.every(word => here.includes(word));
    row.classList.toggle('gone', !fits);
    shown += fits;
  }
  document.getElementById('filtered').textContent = words.length ? shown + ' of ' + rows.length : '';
};
const remember = () => {
  const view = new URLSearchParams();
  for (const [name, key] of views) if (chosen(name) !== 'all') view.set(key, chosen(name));
  if (filter.value) view.set('q', filter.value);
  const hash = view.toString() ? '#?' + view : '';
  if (hash || location.hash.startsWith('#?')) history.replaceState(null, '', hash || location.pathname);
};
const restore = () => {
  if (!location.hash.startsWith('#?')) return;
  filter.value = kept().get('q') || '';
  for (const [name, key] of views) {
    const radio = document.getElementById(name + '-' + (kept().get(key) || 'all'));
    if (radio) radio.checked = true;
  }
  apply();
};
filter.addEventListener('input', () => { apply(); remember(); });
for (const radio of document.querySelectorAll('input[name=rows],input[name=precision]')) radio.addEventListener('change', remember);
addEventListener('hashchange', restore);
for (const element of document.querySelectorAll('.scripted')) element.hidden = false;
restore();
)";

constexpr const char* copying = R"(
const said = document.createElement('p');
said.className = 'skip';
said.setAttribute('role', 'status');
document.querySelector('footer').append(said);
for (const block of document.querySelectorAll('.copy')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copier';
  button.textContent = 'copy';
  button.setAttribute('aria-label', 'Copy ' + block.textContent.trim().slice(0, 40));
  button.addEventListener('click', () => {
    getSelection().selectAllChildren(block);
    document.execCommand('copy');
    getSelection().removeAllRanges();
    button.textContent = said.textContent = 'copied';
  });
  block.after(button);
}
)";

}  // namespace

std::string script() { return std::string(sorting) + filtering + copying; }

}  // namespace tally
