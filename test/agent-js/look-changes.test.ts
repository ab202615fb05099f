import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { WholeLook } from '#troupe/agent-js/look/look.js';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';

guardLeaks(t);

fc.configureGlobal({ seed: SEED });

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, look } = await openAgent(t, lease);

site.set('/inner', '<button>Inside</button><label>Code <input></label>');
const PAGE = `<!doctype html><title>Changing</title><style id=style></style><button>First</button>
<div id=root></div><x-late></x-late><div id=box style="overflow: hidden; height: 40px"><button>Boxed</button></div>
<dialog id=modal><button>Yes</button></dialog><div id=tail style="height: 900px"></div><button>Last</button>`;

/** Each is JavaScript that may wait; several of them leave no node or attribute changed. */
const CHANGES = [
  'root.insertAdjacentHTML("beforeend", "<button>Save</button><label>Name <input></label>")',
  // A frame that is moved loads anew.
  'root.prepend(...[...root.querySelectorAll(":scope > :not(iframe)")].reverse())',
  'root.lastElementChild?.remove()',
  'root.querySelectorAll("button").forEach((one, at) => { one.textContent = at % 2 ? "Odd" : "Save" })',
  'root.querySelectorAll("input").forEach((one, at) => { one.value = one.value + at })',
  'history.pushState(null, "", "/changing/" + history.length); root.replaceChildren()',
  `const frame = document.createElement("iframe"); frame.src = "/inner"; const loaded = new Promise((done) => { frame.onload = done });
   root.append(frame); await loaded`,
  'const frame = frames[0]; if (frame) frame.document.body.insertAdjacentHTML("beforeend", "<button>More</button>")',
  `const frame = document.querySelector("iframe"); if (frame) { const loaded = new Promise((done) => { frame.onload = done });
   frame.contentWindow.location.reload(); await loaded }`,
  'document.querySelector("iframe")?.remove()',
  'const host = document.createElement("div"); host.attachShadow({ mode: "closed" }).innerHTML = "<button>Closed</button>"; root.append(host)',
  `const host = document.createElement("div"); root.append(host);
   host.setHTMLUnsafe("<p><template shadowrootmode=closed><button>Declared</button></template></p>")`,
  'const late = document.querySelector("x-late"); if (!late.shadowRoot) late.attachShadow({ mode: "open" }).innerHTML = "<button>Late</button>"',
  'const { shadowRoot } = document.querySelector("x-late"); if (shadowRoot) shadowRoot.append(document.createElement("input"))',
  'style.sheet.insertRule("button { visibility: hidden }")',
  'style.sheet.insertRule("#box { height: 0 !important }")',
  'style.sheet.insertRule("#root button { opacity: 0; pointer-events: none }")',
  'style.sheet.insertRule("#tail { position: fixed; inset: 0; height: auto !important; background: white }")',
  'style.sheet.insertRule("label { cursor: pointer; padding: 9px }")',
  'while (style.sheet.cssRules.length > 0) style.sheet.deleteRule(0)',
  'if (modal.open) modal.close(); else modal.showModal()',
  'scrollTo(0, scrollY === 0 ? 400 : 0)',
  'document.querySelector("x-late").onclick = document.querySelector("x-late").onclick ? null : () => 1',
];

/** The list before with a look's diff applied. */
function applied(before: readonly ElementDescriptor[], { elements, diff }: WholeLook): Map<string, object> {
  const list = new Map<string, Record<string, unknown>>(before.map((element) => [element.locator, { ...element }]));
  for (const locator of diff?.removed ?? []) list.delete(locator);
  for (const { locator, after: _, ...members } of diff?.changed ?? []) {
    const known = Object.entries({ ...list.get(locator), ...members }).filter(([, value]) => value !== null);
    list.set(locator, Object.fromEntries(known));
  }
  for (const index of diff?.added ?? []) {
    const element = elements[index];
    if (element !== undefined) list.set(element.locator, { ...element });
  }
  return list;
}

t.test('A look is the one before with its diff applied, and what a look that remembers nothing says', async (t) => {
  await call('go', site.set('/changing', PAGE));
  let before = (await look({ full: true })).elements;
  let rounds = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...CHANGES), { minLength: 1, maxLength: 4 }), async (changes) => {
      await call('page', `(async () => { ${changes.map((change) => `{ ${change} }`).join('\n')} return null })()`);
      const seen = await look();
      const [earlier, now] = [before, seen.elements];
      before = now;
      assert.deepEqual(applied(earlier, seen), new Map(now.map((element) => [element.locator, element])));
      // An attribute of the root that is new makes everything be looked at anew.
      await call('page', `document.documentElement.setAttribute('data-round', '${++rounds}')`);
      const anew = await look();
      before = anew.elements;
      assert.deepEqual(anew.elements, now);
    }),
    { numRuns: 60 },
  );
  t.pass(`${rounds} pages`);
});

t.end();
