import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, callWithin, failure, look, told } = await openAgent(t, lease, { actMs: 1_500 });

/** A form with a field of this name, which stands in front of the form's own member of that name. */
const form = (
  name: string,
) => `<!doctype html><title>Form</title><form id=form onsubmit="return false"><input type=hidden name=${name}>
  <p><label>City <input id=city></label> <label><input type=checkbox id=agree> Agree</label></p>
  <ul><li><span id=row>Row</span> <button type=button>Delete</button><li><span>Other</span> <button type=button>Delete</button></ul>
  <select id=size aria-label=Size><option>Small<option>Large</select> <button id=save>Save</button><output id=said></output></form>
  <script>for (const id of ['row', 'save', 'form']) EventTarget.prototype.addEventListener.call(document.getElementById(id), 'click',
    (event) => { if (id !== 'form') document.getElementById('said').textContent += id + ' '; });</script>`;

/** What is told of the form, and what comes of acting on it. */
async function answersFor(name: string): Promise<readonly unknown[]> {
  const errors = told('PageErrorLogged').length;
  await call('go', site.set('/form', form(name)));
  const found: unknown[] = [];
  const ask = async (method: string, ...args: readonly unknown[]) => {
    const answer = await callWithin({ ms: 3_000 }, method, ...args).catch((error: unknown) =>
      String(error).slice(0, 200),
    );
    found.push(answer);
  };
  await ask('text', 'body');
  found.push(await look().then(({ elements }) => elements.map(({ locator }) => locator).join(), String));
  await ask('act', '{input}City', 'input', 'Oslo');
  await ask('act', '{checkbox}Agree', 'check');
  await ask('act', '{select}Size', 'select', 'Large');
  await ask('act', '{button:2}Delete', 'click');
  await ask('act', '{span}Row', 'click');
  await ask('act', '{button}Save', 'click');
  await ask('value', '{input}City');
  await ask('text', '#form');
  await ask('page', '[document.getElementById("form")]');
  found.push(told('PageErrorLogged').slice(errors));
  return found;
}

/** Nobody calls a field so. A call fails there, and says that the page script did. */
const UNLIKELY = new Set(
  `checkVisibility classList getAttribute getBoundingClientRect getElementsByTagName getRootNode hasAttribute innerText
  ownerDocument querySelector querySelectorAll`.split(/\s+/),
);

t.test('a form whose field has the name of a member is like any other', async (t) => {
  await call('go', site.set('/', '<!doctype html>'));
  const members = (await call(
    'page',
    `[...new Set([HTMLFormElement, HTMLElement, Element, Node, EventTarget].flatMap((type) =>
      Object.getOwnPropertyNames(type.prototype)))].filter((name) => !/^(?:on|aria)/.test(name)).sort()`,
  )) as readonly string[];
  const expected = await answersFor('other');
  const faults: string[] = [];
  const likely = members.filter((name) => !UNLIKELY.has(name));
  for (const name of sampled(likely, { name: 'members', count: 40 })) {
    const answers = await answersFor(name);
    answers.forEach((answer, nth) => {
      const [got, wanted] = [answer, expected[nth]].map((value) => JSON.stringify(value).slice(0, 150));
      if (got !== wanted) faults.push(`${name}: ${got} instead of ${wanted}`);
    });
  }
  t.same(faults, []);
  await call('go', site.set('/form', form('getAttribute')));
  t.match(await failure('act', '{button}Save', 'click'), { code: 'INTERNAL', error: /page script failed/ });
});

t.test('a document that holds a form, a picture or a frame with the name of a member is like any other', async (t) => {
  const names =
    `title body head forms links images children all fonts dir cookie domain referrer plugins scripts anchors
    childNodes activeElement documentElement defaultView scrollingElement`.split(/\s+/);
  const answers = async (html: string) => {
    await call('go', site.set('/document', html + form('other')));
    const { title, elements } = await look();
    await call('act', '{input}City', 'input', 'Oslo');
    await call('act', '{span}Row', 'click');
    return [title, elements.map(({ locator }) => locator).join(), await call('text', '#form')];
  };
  const expected = await answers('');
  for (const name of names) {
    for (const element of [
      `<form name=${name}></form>`,
      `<img name=${name}>`,
      `<iframe name=${name} hidden></iframe>`,
    ]) {
      t.same(await answers(element).catch(String), expected, element);
    }
  }
});
