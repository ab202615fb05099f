// Searches as one types. The answer comes late and line by line; each product is shown as soon as its line is there, and
// a newer query ends the older one.
const DEBOUNCE_MS = 250;

const form = document.querySelector('#search');
const input = form.elements.q;
const status = document.querySelector('#status');
const list = document.querySelector('#results');

let timer;
let running = new AbortController();

input.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(start, DEBOUNCE_MS);
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  clearTimeout(timer);
  start();
});
if (input.value !== '') start();

function start() {
  running.abort();
  running = new AbortController();
  const query = input.value.trim();
  history.replaceState(null, '', query === '' ? '/search' : `/search?q=${encodeURIComponent(query)}`);
  list.replaceChildren();
  status.textContent = query === '' ? '' : 'Searching …';
  if (query !== '') void search(query, running.signal);
}

async function search(query, signal) {
  try {
    let count = 0;
    for await (const product of answers(query, signal)) {
      list.append(row(product));
      count += 1;
      status.textContent = `Searching … ${count} so far`;
    }
    status.textContent = count === 0 ? `Nothing found for “${query}”` : count === 1 ? '1 product' : `${count} products`;
  } catch {
    if (!signal.aborted) status.textContent = 'The search failed. Please try again.';
  }
}

async function* answers(query, signal) {
  const response = await fetch(`/api/search?q=${encodeURIComponent(query)}`, { signal });
  if (!response.ok) throw new Error(`The search answered ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

function row({ slug, name, text, price }) {
  const link = Object.assign(document.createElement('a'), { href: `/products/${slug}`, textContent: name });
  const title = document.createElement('h2');
  title.append(link);
  const about = Object.assign(document.createElement('p'), { textContent: text });
  const cost = Object.assign(document.createElement('p'), { className: 'price', textContent: price });
  const add = document.createElement('form');
  Object.assign(add, { method: 'post', action: '/cart/add' });
  const hidden = Object.assign(document.createElement('input'), { type: 'hidden', name: 'slug', value: slug });
  add.append(hidden, Object.assign(document.createElement('button'), { textContent: list.dataset.add }));
  const item = document.createElement('li');
  item.append(title, about, cost, add);
  return item;
}
