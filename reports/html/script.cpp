// The page's script: sorting, the text filter and copying. Well-formed as XML too, so it has no less-than sign and no
// ampersand.
#include "reports/html/pieces.hpp"

namespace tally {
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
