import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { type DragCases, dragJudge } from '../support/drag-cases.js';
import { APPEND, BOARD, byBrowser, byPointer, drawn, PLACE, UNMOVED } from '../support/drag-pages.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const agent = await openAgent(t, lease);

/** What is known of the lists changes as they would. */
const KNOWN = `if (over === null) return; const [list, at] = over.localName === 'ul' ? [over.id, known[over.id].length] : where(over);
  const name = take(was); known[list].splice(at, 0, name); draw();`;
const ANEW = 'list.innerHTML = names.map((name) => "<li>" + name + "</li>").join("");';
/** The same elements show other texts. */
const BY_INDEX = `while (list.children.length > names.length) list.lastElementChild.remove();
  while (list.children.length < names.length) list.append(document.createElement('li'));
  names.forEach((name, at) => { list.children[at].removeAttribute('id'); list.children[at].textContent = name; });`;

const BROWSER: DragCases = {
  'a card to another list': {
    html: byBrowser(APPEND),
    drag: ['#A1', '#b'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3,A4" && texts(b) === "B1,B2,A1"',
  },
  'a card to a card of another list': {
    html: byBrowser('event.target.before(held);'),
    drag: ['{li}A2', '{li}B2'],
    ends: 'moved',
    proof: 'texts(b) === "B1,A2,B2"',
  },
  'a card to a point of another list': {
    html: byBrowser(APPEND),
    drag: ['{li}A3', { to: '#b', x: 80, y: 150 }],
    ends: 'moved',
    proof: 'texts(b) === "B1,B2,A3"',
  },
  'a card to a list that makes room bit by bit while the pointer rests over it': {
    html: byBrowser(
      '',
      `let rests = 0; b.addEventListener('dragover', (event) => { rests += 1; if (rests < 10) b.style.paddingTop = 4 + rests + 'px';
       else if (event.target !== held) event.target.closest('li')?.before(held); });`,
    ),
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'texts(b) === "A1,B1,B2"',
  },
  'a card of a list that writes all of it anew': {
    html: byBrowser('b.innerHTML += "<li>" + held.textContent + "</li>"; held.remove(); a.innerHTML = a.innerHTML;'),
    drag: ['{li}A1', '{li}B2'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3,A4" && texts(b) === "B1,B2,A1"',
  },
  'a card that the list takes after a request': {
    html: byBrowser(`setTimeout(() => { ${APPEND} }, 120);`),
    drag: ['{li}A4', '#b'],
    ends: 'moved',
    proof: 'texts(b) === "B1,B2,A4"',
  },
  'an item of a palette': {
    html: byBrowser('b.append(held.cloneNode(true));'),
    drag: ['{li}A1', '#b'],
    ends: 'copied',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b) === "B1,B2,A1"',
  },
  'an item of a palette of which only the text is copied': {
    html: byBrowser(
      'const one = document.createElement("li"); one.textContent = event.dataTransfer.getData("text/plain"); b.prepend(one);',
    ),
    drag: ['{li}A2', '{li}B1'],
    ends: 'copied',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b) === "A2,B1,B2"',
  },
  'a card to a bin': {
    html: byBrowser('held.remove();'),
    drag: ['{li}A2', '#b'],
    ends: 'removed',
    proof: 'texts(a) === "A1,A3,A4" && texts(b) === "B1,B2"',
  },
  'a card to a place that counts': {
    html: byBrowser('b.firstElementChild.textContent = "1 dropped";'),
    drag: ['{li}A2', '{li}B2'],
    ends: 'dropped',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b) === "1 dropped,B2"',
  },
  'a card to a place that shows nothing of the drop': {
    html: byBrowser('window.drops = (window.drops ?? 0) + 1;'),
    drag: ['{li}A2', '{li}B2'],
    ends: 'dropped',
    changed: false,
    proof: `drops === 1 && ${UNMOVED}`,
  },
  'a picture to a list': {
    html: byBrowser(
      APPEND,
      `for (const [at, one] of [...a.children].entries())
       one.innerHTML = '<svg width=30 height=24><circle cx=12 cy=12 r=' + (3 * at + 2) + ' /></svg>'; A3.firstChild.id = 'circle3';`,
    ),
    drag: ['#A3', '#B1'],
    ends: 'moved',
    proof: 'b.lastElementChild === A3',
  },
  'a card to a list of a frame': {
    html: `<iframe id=f style="width: 700px; height: 300px" srcdoc="${quoted(byBrowser(APPEND))}"></iframe>`,
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'f.contentDocument.querySelector("#b > #A1") !== null',
  },
  'a card to a list of a shadow root': {
    html: `${byBrowser(null)}<div id=host></div><script>const root = host.attachShadow({ mode: 'open' });
      root.innerHTML = '<ul id=inner style="width: 200px; height: 80px"><li>Inner</li></ul>'; const inner = root.firstChild;
      inner.ondragover = (event) => event.preventDefault(); inner.ondrop = () => { inner.append(held); };</script>`,
    drag: ['{li}A1', '{li}Inner'],
    ends: 'moved',
    proof: 'texts(inner) === "Inner,A1" && texts(a) === "A2,A3,A4"',
  },
  'a card to a list below the window': {
    html: `${byBrowser(APPEND)}<style>#b { margin-top: 2500px }</style>`,
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'texts(b) === "B1,B2,A1"',
  },
  'a card to a column that has a heading': {
    html: byBrowser(
      'const list = b.querySelector("ol"); list.append(held); heading.textContent = "Done " + list.children.length;',
      'b.innerHTML = "<h3 id=heading>Done 0</h3><ol></ol>";',
    ),
    drag: ['{li}A1', '#b'],
    ends: 'moved',
    proof: 'heading.nextSibling.contains(A1) && heading.textContent === "Done 1"',
  },
  'a card that the lists draw anew while it is carried over them': {
    html: byBrowser(
      '',
      `b.addEventListener('dragover', () => { if (!held.isConnected) return; const name = held.textContent; held.remove();
         b.innerHTML += '<li>' + name + '</li>'; a.innerHTML = a.innerHTML; });`,
    ),
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3,A4" && texts(b) === "B1,B2,A1"',
  },
  'a photo to an album': {
    html: byBrowser(
      APPEND,
      `a.innerHTML = ['red', 'green', 'blue'].map((color) => '<li><img alt="A ' + color + ' photo" width=30 height=24 src="data:image/svg+xml,' +
         encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg"><rect width="99" height="99" fill="' + color + '"/></svg>') + '"></li>').join('');
       document.addEventListener('drop', () => { b.innerHTML = b.innerHTML; });`,
    ),
    drag: ['{img}A green photo', '{li}B1'],
    ends: 'moved',
    proof: 'a.querySelectorAll("img").length === 2 && b.querySelector("img").alt === "A green photo"',
  },
  'a card that says where it was put': {
    html: byBrowser(`${APPEND} held.className = 'done'; held.textContent += ', done';`),
    drag: ['{li}A1', '{li}B2'],
    ends: 'moved',
    proof: 'texts(b) === "B1,B2,A1, done"',
  },
  'a card to a frame': {
    html: byBrowser(
      null,
      `const frame = document.createElement('iframe'); document.body.append(frame); window.frame = frame;
       frame.srcdoc = '<ul id=inner style="width: 200px; height: 100px"><li>Inner</li></ul>';
       frame.onload = () => { const inner = frame.contentDocument.getElementById('inner');
         inner.ondragover = (event) => event.preventDefault(); inner.ondrop = () => inner.append(held); };`,
    ),
    drag: ['{li}A1', '{li}Inner'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3,A4" && frame.contentDocument.getElementById("inner").textContent === "InnerA1"',
  },
  'a card to a list that stays marked': {
    html: byBrowser(
      null,
      'b.addEventListener("dragenter", () => b.classList.add("drag-over")); document.addEventListener("dragstart", () => held.classList.add("dragging"));',
    ),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: `${UNMOVED} && b.className === 'drag-over' && A1.className === 'dragging'`,
  },
  'a card that no list takes': { html: byBrowser(null), drag: ['{li}A1', '{li}B1'], ends: 'fails', proof: UNMOVED },
  'a card whose list says that it cannot be dropped there': {
    html: byBrowser(
      null,
      'document.ondragend = () => { const toast = document.createElement("p"); toast.textContent = "It cannot be dropped here"; document.body.append(toast); };',
    ),
    drag: ['{li}A1', '#b'],
    ends: 'fails',
    proof: `${UNMOVED} && document.body.lastElementChild.textContent === 'It cannot be dropped here'`,
  },
  'a card to a place over which a cover comes that takes the drop': {
    html: byBrowser(
      APPEND,
      `const cover = document.createElement('div'); cover.style = 'position: fixed; inset: 0';
       window.drops = 0; cover.ondragover = (event) => event.preventDefault(); cover.ondrop = () => { drops += 1; cover.remove(); };
       document.addEventListener('dragstart', () => setTimeout(() => document.body.append(cover)));`,
    ),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: `${UNMOVED} && drops === 1`,
  },
  'a card to a place that the pointer does not meet': {
    html: byBrowser(APPEND, 'b.style.pointerEvents = "none";'),
    drag: ['{li}A1', '#b'],
    ends: 'fails',
    proof: UNMOVED,
  },
  'a link that nothing takes': {
    html: `${BOARD}<a id=link href="/list">Link</a>`,
    drag: ['#link', '#b'],
    ends: 'fails',
    proof: UNMOVED,
  },
};

const POINTER: DragCases = {
  'an item to an item of another list': {
    html: byPointer(PLACE),
    drag: ['{li}A1', '{li}B2'],
    ends: 'moved',
    proof: 'b.contains(A1) && texts(a) === "A2,A3,A4"',
  },
  'an item to an item of its list': {
    html: byPointer(PLACE),
    drag: ['{li}A1', '{li}A3'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3,A1,A4"',
  },
  'an item that holds the pointer, to another list': {
    html: byPointer(PLACE, { events: 'pointer' }),
    drag: ['{li}A2', '{li}B1'],
    ends: 'moved',
    proof: 'b.contains(A2)',
  },
  'two items that exchange their places': {
    html: byPointer(
      'const mark = document.createComment(""); was.replaceWith(mark); over.replaceWith(was); mark.replaceWith(over);',
    ),
    drag: ['{li}A1', '{li}A4'],
    ends: 'moved',
    proof: 'texts(a) === "A4,A2,A3,A1"',
  },
  'two items of two lists that exchange their places': {
    html: byPointer(
      'const mark = document.createComment(""); was.replaceWith(mark); over.replaceWith(was); mark.replaceWith(over);',
    ),
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'texts(a) === "B1,A2,A3,A4" && texts(b) === "A1,B2"',
  },
  'an item that stands where the other was': {
    html: byPointer('over.replaceWith(was);'),
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3,A4" && texts(b) === "A1,B2"',
  },
  'an item that takes another along': {
    html: byPointer('b.append(was, a.lastElementChild);'),
    drag: ['{li}A1', '{li}B2'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3" && texts(b) === "B1,B2,A1,A4"',
  },
  'a piece that stands where it was let go': {
    html: byPointer(
      'const { left, top } = over.getBoundingClientRect(); was.style.position = "fixed"; was.style.left = left + "px"; was.style.top = top + "px";',
    ),
    drag: ['{li}A1', '{li}B2'],
    ends: 'moved',
    proof: 'Math.abs(A1.getBoundingClientRect().left - B2.getBoundingClientRect().left) < 4 && a.contains(A1)',
  },
  'a copy of an item, as the pointer leaves it': {
    html: byPointer('b.append(was.cloneNode(true));'),
    drag: ['{li}A1', '{li}B2'],
    ends: 'copied',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b) === "B1,B2,A1"',
  },
  'an item to a bin': {
    html: byPointer('if (over?.id === "B2") was.remove();'),
    drag: ['{li}A1', '{li}B2'],
    ends: 'removed',
    proof: 'texts(a) === "A2,A3,A4" && texts(b) === "B1,B2"',
  },
  'an item that a place counts': {
    html: byPointer('if (over?.id === "B2") over.textContent = "1 item";'),
    drag: ['{li}A1', '{li}B2'],
    ends: 'dropped',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b) === "B1,1 item"',
  },
  'an item to a place that is found by where it is': {
    html: byPointer('', {
      more: `b.style.pointerEvents = 'none'; document.addEventListener('mouseup', ({ clientX, clientY }) => {
        const { left, right, top, bottom } = b.getBoundingClientRect();
        if (left < clientX && clientX < right && top < clientY && clientY < bottom) b.append(A1); });`,
    }),
    drag: ['{li}A1', '#b'],
    ends: 'moved',
    proof: 'texts(b) === "B1,B2,A1"',
  },
  'an item to a list below the window': {
    html: `${byPointer(PLACE)}<style>#b { margin-top: 2500px }</style>`,
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'b.contains(A1)',
  },
  'an item of lists that are drawn anew': {
    html: drawn(ANEW, KNOWN),
    drag: ['{li}A2', '{li}B2'],
    ends: 'moved',
    proof: 'texts(a) === "A1,A3,A4" && texts(b) === "B1,A2,B2"',
  },
  'an item of a list that is drawn anew, to another of it': {
    html: drawn(ANEW, KNOWN),
    drag: ['{li}A1', '{li}A3'],
    ends: 'moved',
    proof: 'texts(a) === "A2,A3,A1,A4"',
  },
  'an item of lists whose elements show other texts': {
    html: drawn(BY_INDEX, KNOWN),
    drag: ['{li}A2', '{li}B2'],
    ends: 'moved',
    proof: 'texts(a) === "A1,A3,A4" && texts(b) === "B1,A2,B2"',
  },
  'an item of a list whose elements show other texts, to another of it': {
    html: drawn(BY_INDEX, KNOWN),
    drag: ['{li}A4', '{li}A2'],
    ends: 'moved',
    proof: 'texts(a) === "A1,A4,A2,A3" && texts(b) === "B1,B2"',
  },
  'an item to a bin, whose list’s elements show other texts': {
    html: drawn(BY_INDEX, 'take(was); draw();'),
    drag: ['{li}A2', '{li}B2'],
    ends: 'removed',
    proof: 'texts(a) === "A1,A3,A4" && texts(b) === "B1,B2"',
  },
  'a copy in lists whose elements show other texts': {
    html: drawn(BY_INDEX, 'known.b.unshift(was.textContent); draw();'),
    drag: ['{li}A2', '{li}B1'],
    ends: 'copied',
    proof: 'texts(a) === "A1,A2,A3,A4" && texts(b) === "A2,B1,B2"',
  },
  'pictures that are drawn anew': {
    html: byPointer(PLACE, {
      more: `const pictured = (list) => { for (const one of list.children) one.innerHTML =
          '<svg width=30 height=24><circle cx=12 cy=12 r=' + one.id.codePointAt(1) / 8 + ' /></svg>'; };
        pictured(a); pictured(b); document.addEventListener('mouseup', () => { a.innerHTML = a.innerHTML; b.innerHTML = b.innerHTML; });`,
    }),
    drag: ['#A3', '#B2'],
    ends: 'moved',
    proof: 'b.querySelector("#A3 > svg") !== null && a.querySelector("#A3") === null',
  },
  'a row of a table': {
    html: `<table><tbody id=rows>${['One', 'Two', 'Three', 'Four'].map((name) => `<tr id=${name}><td>${name}<td>1</tr>`).join('')}</table>
      <script>let held = null; rows.onmousedown = (event) => { held = event.target.closest('tr'); event.preventDefault(); };
      onmousemove = (event) => { const over = event.target.closest?.('tr'); if (!held || !over || over === held) return;
        const { top, height } = over.getBoundingClientRect(); if (event.clientY > top + height / 2) over.after(held); else over.before(held); };
      onmouseup = () => { held = null; };</script>`,
    drag: ['#One', '#Three'],
    ends: 'moved',
    proof: '[...rows.rows].map((row) => row.id).join() === "Two,Three,One,Four"',
  },
  'a row of a table that is drawn anew': {
    html: `<table><tbody id=rows></table><script>const names = ['One', 'Two', 'Three', 'Four']; let held = -1;
      const draw = () => { rows.innerHTML = names.map((name, at) => '<tr><td>' + (at + 1) + '<td>' + name).join(''); }; draw();
      const at = (event) => [...rows.rows].indexOf(event.target.closest?.('tr'));
      rows.onmousedown = (event) => { held = at(event); event.preventDefault(); };
      onmouseup = (event) => { const to = at(event); if (held >= 0 && to >= 0) names.splice(to, 0, ...names.splice(held, 1));
        held = -1; draw(); };</script>`,
    drag: ['{td}Four', '{td}Two'],
    ends: 'moved',
    proof: 'names.join() === "One,Four,Two,Three"',
  },
  'an entry of a flat tree, into a folder': {
    html: tree('rows.splice(to + 1, 0, [1, name]);'),
    drag: ['{div}Notes', '{div}Folder'],
    ends: 'moved',
    proof: 'rows.join(" ") === "0,Folder 1,Notes 1,Letter 0,Last"',
  },
  'an entry of a flat tree, into a folder below it': {
    html: tree('rows.splice(to + 1, 0, [1, name]);', [
      [0, 'Notes'],
      [0, 'Folder'],
      [1, 'Letter'],
    ]),
    drag: ['{div}Notes', '{div}Folder'],
    ends: 'moved',
    proof: 'rows.join(" ") === "0,Folder 1,Notes 1,Letter"',
  },
  'an entry of a flat tree, into a folder that is closed': {
    html: tree('void to;'),
    drag: ['{div}Notes', '{div}Folder'],
    ends: 'removed',
    proof: 'rows.join(" ") === "0,Folder 1,Letter 0,Last"',
  },
  'an entry of a flat tree that takes none into a file': {
    html: tree('rows.splice(from, 0, [depth, name]);'),
    drag: ['{div}Notes', '{div}Letter'],
    ends: 'fails',
    proof: 'rows.join(" ") === "0,Folder 1,Letter 0,Notes 0,Last"',
  },
  'an item of a closed shadow root': {
    html: `<div id=host></div><script>const root = host.attachShadow({ mode: 'closed' });
      root.innerHTML = '<ul id=from><li>Inner</li><li>Other</li></ul><ul id=to><li>There</li></ul>'; let held = null;
      root.addEventListener('mousedown', (event) => { held = event.target.closest('li'); event.preventDefault(); });
      root.addEventListener('mouseup', (event) => { event.target.closest('li')?.before(held); });</script>`,
    drag: ['{li}Inner', '{li}There'],
    ends: 'moved',
    proof: 'root.getElementById("to").textContent === "InnerThere"',
  },
  'an item of a frame': {
    html: `<p style="height: 60px">Above</p><iframe id=f style="width: 700px; height: 300px" srcdoc="${quoted(byPointer(PLACE))}"></iframe>`,
    drag: ['{li}A1', '{li}B1'],
    ends: 'moved',
    proof: 'f.contentDocument.querySelector("#b > #A1") !== null',
  },
  'an edge between two nodes': {
    html: nodes(60),
    drag: ['#Ada', '#Bob'],
    ends: 'untold',
    proof: 'edge.getAttribute("d") === "M60 60 L400 60"',
  },
  'an edge between two nodes at different heights': {
    html: nodes(160),
    drag: ['#Ada', '#Bob'],
    ends: 'untold',
    proof: 'edge.getAttribute("d") === "M60 60 L400 160"',
  },
  'an item that only sorts within its list': {
    html: byPointer('', {
      more: `document.addEventListener('mousemove', (event) => { if (!held) return; const there = over(event);
        if (there?.localName === 'ul' || there?.parentNode === b) { if (A1.nextElementSibling) a.append(A1); } });`,
    }),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: 'texts(a) === "A2,A3,A4,A1" && texts(b) === "B1,B2"',
  },
  'an item to a place over which a cover comes': {
    html: byPointer('', {
      more: `const cover = document.createElement('div'); cover.style = 'position: fixed; inset: 0'; window.drops = 0;
        document.addEventListener('mousedown', () => setTimeout(() => document.body.append(cover)));
        cover.onmouseup = () => { drops += 1; cover.remove(); }; b.onmouseup = () => { b.append(A1); };`,
    }),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: `${UNMOVED} && drops === 1`,
  },
  'an item that goes to a third list': {
    html: byPointer('c.append(was);', { more: 'b.insertAdjacentHTML("afterend", "<ul id=c><li>C1</li></ul>");' }),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: 'texts(c) === "C1,A1" && texts(b) === "B1,B2"',
  },
  'an item that lists drawn anew put at the end of its own list': {
    html: drawn(ANEW, 'known.a.push(take(was)); draw();'),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: 'texts(a) === "A2,A3,A4,A1" && texts(b) === "B1,B2"',
  },
  'an item of lists that are drawn anew as they were': {
    html: drawn(ANEW, 'draw();'),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: UNMOVED,
  },
  'an item of lists whose elements are written anew as they were': {
    html: drawn(BY_INDEX, 'draw();'),
    drag: ['{li}A1', '{li}A3'],
    ends: 'fails',
    proof: UNMOVED,
  },
  'an item that glides back': {
    html: byPointer('was.style.transition = "transform .3s"; was.style.transform = "";', {
      more: 'document.addEventListener("mousedown", () => { if (held) held.style.transition = ""; });',
    }),
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: UNMOVED,
  },
  'an item that is only selected': {
    html: `${BOARD}<style>.selected { background: #cdf }</style><script>document.addEventListener('mousedown', ({ target }) => {
      if (target.localName === 'li') { target.classList.add('selected'); target.setAttribute('aria-selected', 'true'); } });</script>`,
    drag: ['{li}A1', '{li}B1'],
    ends: 'fails',
    proof: `${UNMOVED} && A1.className === 'selected'`,
  },
  'a list of which a place is made and taken away': {
    html: byPointer('gap.remove();', {
      more: `const gap = document.createElement('li'); document.addEventListener('mousemove', (event) => {
        const there = held && over(event); if (there && there !== gap && there.localName === 'li') there.before(gap); });`,
    }),
    drag: ['{li}A1', '{li}B2'],
    ends: 'fails',
    proof: UNMOVED,
  },
};

/** The names and depths of a tree, one row each. `drop` changes `rows`, from which `name` and `depth` were taken at `from`. */
function tree(
  drop: string,
  rows: readonly (readonly [number, string])[] = [
    [0, 'Folder'],
    [1, 'Letter'],
    [0, 'Notes'],
    [0, 'Last'],
  ],
): string {
  return `<style>#tree div { height: 26px; width: 240px; cursor: grab; user-select: none }</style><div id=tree></div><script>
    const rows = ${JSON.stringify(rows)}; let from = -1;
    const draw = () => { tree.innerHTML = rows.map(([depth, name]) => '<div style="padding-left: ' + 20 * depth + 'px">' + name + '</div>').join(''); };
    draw(); tree.onmousedown = ({ target }) => { from = [...tree.children].indexOf(target); };
    tree.onmouseup = ({ target }) => { const over = target.textContent; if (from < 0 || over === rows[from][1]) return;
      const [[depth, name]] = rows.splice(from, 1); const to = rows.findIndex((row) => row[1] === over); ${drop} from = -1; draw(); };</script>`;
}

/** Two nodes, the second at a height, between which an edge is drawn. */
function nodes(height: number): string {
  const node = (id: string, x: number, y: number) =>
    `<circle id=${id} cx=${x} cy=${y} r=20 style="cursor: crosshair" />`;
  return `<svg id=s width=500 height=300>${node('Ada', 60, 60)}${node('Bob', 400, height)}</svg><script>
    const middle = (node) => node.cx.baseVal.value + ' ' + node.cy.baseVal.value; let from = null;
    s.onpointerdown = ({ target }) => { from = target; };
    s.onpointerup = ({ target }) => { if (from !== null && target !== from && target !== s) s.insertAdjacentHTML('beforeend',
      '<path id=edge stroke=black d="M' + middle(from) + ' L' + middle(target) + '" />'); from = null; };</script>`;
}

function quoted(html: string): string {
  return html.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

const judge = dragJudge(site, agent);

t.test('a drag by the browser’s drag and drop answers what has come of it, and fails if it has not come about', (t) =>
  judge(t, BROWSER),
);

t.test('a drag by the pointer answers what has come of it, and fails if it has not come about', (t) =>
  judge(t, POINTER),
);

t.test('a drop that opens a dialog, or leads to another page, is no failure', async (t) => {
  const { call, callWithin } = agent;
  const within = { ms: 15_000 };
  const asks = 'if (confirm("Move it?")) b.append';
  for (const [what, html] of [
    ['by the browser’s drag and drop', byBrowser(`${asks}(held);`)],
    ['by the pointer', byPointer(`${asks}(was);`)],
  ] as const) {
    await call('go', site.set('/asks', html));
    const answer = await callWithin(within, 'act', '{li}A1', 'drag', '{li}B1').catch((error: Error) => error.message);
    t.match(answer, { dialog: { kind: 'confirm', message: 'Move it?' } }, what);
    await call('act', '{dialog}OK', 'click');
    t.equal(await call('page', 'texts(b)'), 'B1,B2,A1', `${what}: it was moved`);
  }
  site.set('/next', '<title>Next</title>');
  const leads = 'location.href = "/next";';
  for (const [what, html] of [
    ['by the browser’s drag and drop', byBrowser(leads)],
    ['by the pointer', byPointer(leads)],
  ] as const) {
    await call('go', site.set('/leads', html));
    const answer = await call('act', '{li}A1', 'drag', '{li}B1').catch((error: Error) => error.message);
    t.match(answer, { changed: true, title: 'Next' }, what);
  }
});

t.end();
