import t from 'tap';
import { encodeError } from '#troupe/protocol/errors.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { agent } = await openAgent(t, lease, { policy: 'off' });
const sandbox = await Sandbox.start({ modules: [agent.module], emit: () => undefined });
t.teardown(() => sandbox.close());

/** An assertion, what makes it right, and what keeps it wrong: JavaScript of the page, in which `x` is the element. */
interface Kind {
  readonly check: (options: string) => string;
  readonly right: string;
  readonly wrong: readonly string[];
  /** It is right while the element has gone, be it for a moment. */
  readonly rightWhileGone?: true;
}

const TEXTS = [
  'x.textContent = "Paying"',
  'x.innerHTML = "<b>Paid</b> soon"',
  'x.textContent = ""',
  'x.firstChild?.remove()',
];
const text = (matcher: string, value: string): Kind => ({
  check: (options) => `agent.expect('#x').${matcher}(${value}${options})`,
  right: 'x.innerHTML = "Paid <b>now</b>"',
  wrong: TEXTS,
});
const KINDS: readonly Kind[] = [
  text('toHaveText', '"Paid now"'),
  text('toHaveText', '/^Paid now$/'),
  text('toContainText', '"Paid now"'),
  text('not.toHaveText', '/^(?!Paid now)/'),
  {
    check: (options) => `agent.expect('{button}Pay').toBeEnabled(${options.slice(2)})`,
    right: 'x.innerHTML = "<button>Pay</button>"',
    wrong: [
      'x.innerHTML = "<button disabled>Pay</button>"',
      'x.innerHTML = "<button>Pays</button>"',
      'x.textContent = ""',
    ],
  },
  {
    check: (options) => `agent.expect('{button}Pay').toBeVisible(${options.slice(2)})`,
    right: 'x.innerHTML = "<button>Pay</button>"',
    wrong: [
      'x.innerHTML = "<button hidden>Pay</button>"',
      'x.innerHTML = "<button>Pays</button>"',
      'x.textContent = ""',
    ],
  },
  {
    check: (options) => `agent.expect('{button}Pay').toBeHidden(${options.slice(2)})`,
    right: 'x.innerHTML = "<button style=display:none>Pay</button>"',
    wrong: ['x.innerHTML = "<button>Pay</button>"', 'x.innerHTML = "<button>Pay</button><button>Pay</button>"'],
    rightWhileGone: true,
  },
  {
    check: (options) => `agent.expect('li').toHaveCount(3${options})`,
    right: 'x.innerHTML = "<li>1<li>2<li>3"',
    wrong: ['x.innerHTML = "<li>1<li>2"', 'x.innerHTML = "<li>1<li>2<li>3<li>4"', 'x.textContent = ""'],
  },
  {
    check: (options) => `agent.expect('#x').toHaveAttribute('data-state', 'done'${options})`,
    right: 'x.dataset.state = "done"',
    wrong: ['x.dataset.state = "busy"', 'delete x.dataset.state'],
  },
  {
    check: (options) => `agent.expect('{input}Sum').toHaveValue('12'${options})`,
    right: 'x.innerHTML = "<input aria-label=Sum value=12>"',
    wrong: ['x.innerHTML = "<input aria-label=Sum>"', 'x.innerHTML = "<input aria-label=Sum value=13>"'],
  },
  {
    check: (options) => `agent.expect(agent).toHaveTitle('Paid'${options})`,
    right: 'document.title = "Paid"',
    wrong: ['document.title = "Paying"', 'document.title = ""'],
  },
  {
    check: (options) => `agent.expect(agent).toHaveURL(/paid$/${options})`,
    right: 'history.replaceState(null, "", "#paid")',
    wrong: ['history.replaceState(null, "", "#paying")'],
  },
  {
    check: (options) => `agent.until(() => agent.text('#x') === 'Paid now'${options})`,
    right: 'x.textContent = "Paid now"',
    wrong: TEXTS,
  },
];

/** What happens to the element besides; each keeps a wrong state wrong. `x` is looked up again before every event. */
const GOES = 'const parent = x.parentNode; x.remove(); setTimeout(() => parent.append(x), 8)';
const UPHEAVALS = [
  'x.replaceWith(x.cloneNode(true))',
  'x.remove(); document.body.append(x)',
  GOES,
  'x.style.opacity = Math.random()',
  'const twin = x.cloneNode(true); x.after(twin); setTimeout(() => twin.remove(), 10)',
];

/** mulberry32 */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

interface Try {
  readonly html: string;
  readonly check: string;
  readonly comes: boolean;
}

/** A page that is wrong at first, changes at random moments, and in nine of ten tries comes right in the end. */
function tryOf(seed: number): Try {
  const pick = random(seed);
  const kind = KINDS[pick(KINDS.length)] ?? text('toHaveText', '"Paid now"');
  const comes = pick(10) > 0;
  const wrong = () => kind.wrong[pick(kind.wrong.length)] ?? '';
  const events: string[] = [];
  const upheavals = UPHEAVALS.filter((one) => one !== GOES || kind.rightWhileGone === undefined);
  for (let left = pick(4); left > 0; left -= 1) {
    events.push(pick(2) === 0 ? wrong() : `{ ${upheavals[pick(upheavals.length)]} }`);
  }
  // The next document begins wrong again, and goes on with what is left.
  const leaves = pick(4) === 0;
  if (comes) events.push(`${kind.right}; window.right = true`);
  const delays = events.map(() => pick(30));
  const script = `const run = (list) => { const next = list.shift(); if (!next) return; setTimeout(() => {
    const x = document.querySelector('#x'); if (x) next[1](x); else list.unshift(next); run(list); }, next[0] + 1) };
    const x = document.querySelector('#x'); ${wrong()};
    if (${leaves} && !location.search) setTimeout(() => location.search = '?next', ${pick(40)});
    else run([${events.map((event, index) => `[${delays[index]}, (x) => { ${event} }]`).join(', ')}]);`;
  return {
    html: `<!doctype html><title>Late</title><main id=x>Wait</main><script>{ ${script} }</script>`,
    check: kind.check(comes ? '' : ', {timeout: 60}'),
    comes,
  };
}

const TRIES = Array.from({ length: 1_000 }, (_, index) => index + 1).filter(isInPart);

/** Whether this run has a try: all of them, or those of one part in `TROUPE_PART`, such as 2/10. */
function isInPart(seed: number): boolean {
  const [, part = '1', parts = '1'] = /^(\d+)\/(\d+)$/.exec(process.env.TROUPE_PART ?? '') ?? [];
  return seed % Number(parts) === Number(part) - 1;
}

t.test(
  'Pages that come right late pass, those that never do fail, and nothing passes before it is right',
  async (t) => {
    const wrong: string[] = [];
    for (const seed of sampled(TRIES, { name: 'expect', count: 40 })) {
      const { html, check, comes } = tryOf(seed);
      const source = `agent.go(${JSON.stringify(site.set('/late', html))}); ${check}; agent.page('window.right === true')`;
      const outcome = await sandbox.run({ source, name: 'late.js', kind: 'script', timeoutMs: 30_000 }).then(
        (json) => (json === 'true' ? 'held' : 'held too early'),
        (error: unknown) => encodeError(error),
      );
      const said = typeof outcome === 'string' ? outcome : `${outcome.code}: ${outcome.error}`;
      if (comes ? said !== 'held' : !said.startsWith('MATCH_FAILED')) wrong.push(`${seed}: ${said}\n${check}\n${html}`);
    }
    t.same(wrong, []);
  },
);
