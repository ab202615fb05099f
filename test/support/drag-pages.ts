import { readFileSync } from 'node:fs';
import type { Site } from './agent-fixture.js';

/** What makes script elements of files of installed packages, which the site serves. */
export function scriptTags(site: Site): (...paths: readonly string[]) => string {
  const tag = (path: string): string => {
    const source = readFileSync(new URL(`../../node_modules/${path}`, import.meta.url));
    const address = site.set(`/${path}`, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(source);
    });
    return `<script src="${address}"></script>`;
  };
  return (...paths) => paths.map(tag).join('');
}

/** The texts of a list's items, in their order. */
const TEXTS = 'const texts = (list) => [...list.children].map((one) => one.textContent.trim()).join();';

/** Two lists side by side, with the items A1 to A4, and B1 and B2; and a paragraph, `#says`. */
export const BOARD = `<style>
  ul { float: left; width: 160px; min-height: 180px; margin: 0 20px 0 0; padding: 4px; border: 1px solid }
  li { list-style: none; height: 30px; margin: 2px; border: 1px solid; background: #eee; cursor: grab; user-select: none }
  #says { clear: both }</style>
  <ul id=a>${items('A', 4)}</ul><ul id=b>${items('B', 2)}</ul><p id=says>Nothing yet</p><script>${TEXTS}</script>`;

function items(letter: string, count: number): string {
  return Array.from({ length: count }, (_, at) => `<li id=${letter}${at + 1}>${letter}${at + 1}</li>`).join('');
}

/** Both lists of the board are as they were. */
export const UNMOVED = 'texts(a) === "A1,A2,A3,A4" && texts(b) === "B1,B2"';
/** A drop puts the item where it was let go, in the list or beside the other. */
export const PLACE = 'if (over) place(was, over);';
export const APPEND = 'b.append(held);';

/** The board, by the browser's drag and drop. `drop(event)` is what the second list does with `held`; null: it takes nothing. */
export function byBrowser(drop: string | null, more = '', board = BOARD): string {
  const takes =
    drop === null
      ? ''
      : `b.ondragover = (event) => event.preventDefault(); b.ondrop = (event) => { event.preventDefault(); ${drop} };`;
  return `${board}<script>let held = null; for (const one of document.querySelectorAll('li')) one.draggable = true;
    document.addEventListener('dragstart', (event) => { held = event.target; event.dataTransfer.setData('text/plain', held.textContent); });
    ${takes} ${more}</script>`;
}

/**
 * The board, by the pointer, which the item follows. `drop(was, over)`: an item is let go over an item or a list, or over
 * neither: null. `place(was, over)` puts it there.
 */
export function byPointer(drop: string, { events = 'mouse', more = '', board = BOARD } = {}): string {
  return `${board}<script>let held = null, start = null;
    const over = (event) => document.elementsFromPoint(event.clientX, event.clientY)
      .map((one) => one.closest('li, ul, .place')).find((one) => one !== null && one !== held) ?? null;
    const place = (was, there) => {
      if (there.localName === 'ul') return there.append(was);
      const after = there.compareDocumentPosition(was) & Node.DOCUMENT_POSITION_PRECEDING && was.parentNode === there.parentNode;
      if (after) there.after(was); else there.before(was);
    };
    document.addEventListener('${events}down', (event) => {
      held = event.target.closest('li'); start = [event.clientX, event.clientY];
      ${events === 'pointer' ? 'held?.setPointerCapture(event.pointerId);' : ''} });
    document.addEventListener('${events}move', (event) => {
      if (held) held.style.transform = 'translate(' + (event.clientX - start[0]) + 'px, ' + (event.clientY - start[1]) + 'px)'; });
    document.addEventListener('${events}up', (event) => {
      if (!held) return;
      const was = held, there = over(event); was.style.transform = ''; held = null; drop(was, there); });
    function drop(was, over) { ${drop} } ${more}</script>`;
}

/** The board drawn from what the page knows: `known` has the texts of each list; `draw()` draws them all by `how`. */
export function drawn(how: string, drop: string): string {
  return byPointer(drop, {
    more: `const known = { a: texts(a).split(','), b: texts(b).split(',') };
      const draw = () => { for (const list of [a, b]) { const names = known[list.id]; ${how} } };
      const where = (one) => [one.closest('ul').id, [...one.closest('ul').children].indexOf(one)];
      const take = (one) => { const [list, at] = where(one); return known[list].splice(at, 1)[0]; };`,
  });
}
