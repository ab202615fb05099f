import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, failure } = await openAgent(t, lease);

/** What is read of a page. */
async function read(body: string, locator?: string): Promise<string> {
  await call('go', site.set('/page', `<!doctype html><title>Page</title><body>${body}`));
  return String(await call('read', locator)).replaceAll(site.origin, '');
}

t.test('each kind of text becomes its Markdown', async (t) => {
  for (const [body, markdown] of [
    ['<h1>Shop</h1><p>Two <b>bold</b> and <i>slanted</i> words.</p>', '# Shop\n\nTwo **bold** and *slanted* words.'],
    ['<div>One</div><div>Two<br>Three</div>', 'One\n\nTwo\nThree'],
    ['<ul><li>Tea<li>Milk<ul><li>Oat</ul></ul>', '- Tea\n- Milk\n  - Oat'],
    ['<ol start=3><li>Third<li>Fourth</ol>', '3. Third\n4. Fourth'],
    ['<a href="/cart">Cart <b>2</b></a>', '[Cart **2**](/cart)'],
    ['<a href="javascript:alert(1)">Run</a> <a>Plain</a>', 'Run Plain'],
    ['<table><tr><th>Tea<th>Price<tr><td>Green<td>2|3</table>', '| Tea | Price |\n| --- | --- |\n| Green | 2\\|3 |'],
    ['<pre>a  b\n`c`</pre><p>Say <code>x y</code></p>', '```\na  b\n`c`\n```\n\nSay `x y`'],
    ['<blockquote><p>One</p><p>Two</p></blockquote><hr>', '> One\n>\n> Two\n\n---'],
    ['<img src="data:," alt="A logo"><img src="data:,">', '![A logo]'],
    ['<div role=heading aria-level=3>Part</div>', '### Part'],
    [
      '<p># not a heading</p><p>1. nor a list</p><p>a*b_c [d] &lt;e></p>',
      '\\# not a heading\n\n\\1. nor a list\n\na\\*b\\_c \\[d\\] \\<e>',
    ],
  ] as const) {
    t.equal(await read(body), markdown, body);
  }
});

t.test('only what is drawn is read, also of shadow roots and frames', async (t) => {
  const hidden =
    '<p hidden>No</p><p style="visibility:hidden">No</p><script>var no</script><select><option>No</select>';
  t.equal(await read(`${hidden}<p>Yes</p>`), 'Yes');
  const shadow =
    '<div id=host><i slot=x>slotted</i></div><script>host.attachShadow({mode: "closed"}).innerHTML = "<h2>Inside</h2><p>is <slot name=x></slot></p>"</script>';
  t.equal(await read(shadow), '## Inside\n\nis *slotted*');
  t.equal(await read('<iframe srcdoc="<h3>Framed</h3>"></iframe>'), '### Framed');
});

t.test('a part of the page is read alone, and what is not there fails', async (t) => {
  t.equal(await read('<h1>All</h1><section><h2>Part</h2></section>', 'section'), '## Part');
  t.match(await failure('read', '{button}None'), { code: 'LOCATOR_NOT_FOUND' });
  t.match(await failure('read', 'h1', {}), { code: 'SCRIPT_ERROR' });
});

t.test('a page that nests without end is read', async (t) => {
  t.match(await read(`${'<div>'.repeat(5_000)}deep`), /deep/);
});
