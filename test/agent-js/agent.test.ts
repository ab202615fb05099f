import t from 'tap';
import { boundsOf } from '#troupe/agent-js/browser/bounds.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { agent } = await openAgent(t, lease);
const sandbox = await Sandbox.start({ modules: [agent.module], emit: () => undefined });
t.teardown(() => sandbox.close());

async function run(source: string, timeoutMs = 10_000): Promise<unknown> {
  return JSON.parse(await sandbox.run({ source, name: 'test.js', kind: 'script', timeoutMs }));
}
site.set(
  '/',
  `<title>Login</title><form action=/home><label>User <input name=u></label>
  <label>Role <select><option>Guest<option>Admin</select></label><button>Sign in</button></form>`,
);
site.set('/home', '<title>Home</title><h1>Welcome</h1><a href=/>Log out</a>');

t.test('Scripts look synchronous, with and without await', async (t) => {
  t.equal(
    await run(`
      agent.go('${site.origin}/');
      const e = agent.look().elements;
      e.length`),
    3,
  );
  t.same(
    await run(`
      agent.act('{input}User', 'input', 'ada');
      await agent.act('{select}Role', 'select', 'Admin');
      agent.act('{button}Sign in', 'click');
      await agent.wait('navigation');
      agent.wait('{h1}Welcome');
      ({ text: agent.text('{h1}'), title: (await agent.look()).title, e: e.length })`),
    { text: 'Welcome', title: 'Home', e: 3 },
  );
});

t.test('A diff serialises as the contract has it, and scripts see all of it', async (t) => {
  await run(`agent.go('${site.origin}/'); agent.look({ full: true })`);
  await run(`agent.act('{input}User', 'input', 'x')`);
  t.same(await run('agent.look()'), {
    url: `${site.origin}/`,
    title: 'Login',
    diff: true,
    added: [],
    removed: [],
    changed: [{ locator: '{input}User', value: 'x' }],
    unchanged: 2,
  });
  t.same(
    await run(
      'const d = agent.look(); [d.unchanged.map((l) => l), d.elements.length, d.unchanged.length, Array.isArray(d.unchanged)]',
    ),
    [['{input}User', '{select}Role', '{button}Sign in'], 3, 3, true],
  );
  t.match(await run('agent.look({ full: true })'), { elements: [{ role: 'input', name: 'User' }, {}, {}] });
  const { elements } = (await run(`agent.go('${site.origin}/'); agent.look({ full: true })`)) as { elements: object[] };
  t.same(await run(`agent.go('${site.origin}/'); agent.look()`), {
    url: `${site.origin}/`,
    title: 'Login',
    diff: true,
    document: 'new',
    added: elements,
    removed: [],
    changed: [],
    unchanged: 0,
  });
});

t.test('The agent cannot be changed, and survives scripts that change the language', async (t) => {
  t.same(
    await run(`
      Object.defineProperty(Object.prototype, '0', { set() { throw new Error('polluted') }, configurable: true });
      Object.prototype.get = () => 1; Object.prototype.value = 'bad';
      Array.prototype.push = Array.prototype.map = () => { throw new Error('polluted') };
      JSON.stringify = JSON.parse = () => 'bad'; Object.defineProperty = () => 'bad';
      try { agent.go = 1 } catch {}
      try { agent.look.call = 1 } catch {}
      try { globalThis.agent = 1 } catch {}
      agent.look();
      const seen = agent.look();
      const answer = [seen.diff, seen.unchanged.length, seen.elements.length, typeof agent.go];
      delete Object.prototype.get; delete Object.prototype.value; delete Object.prototype['0'];
      answer`),
    [true, 3, 3, 'function'],
  );
});

t.test('A failed call carries its code, the place on the page and the line', async (t) => {
  await t.rejects(run(`agent.go('${site.origin}/');\nagent.value('{input}Nobody')`), {
    code: 'LOCATOR_NOT_FOUND',
    details: { url: `${site.origin}/`, title: 'Login', locator: '{input}Nobody', line: 2 },
  });
  t.same(
    await run(`try { agent.act('{button}Sign in', 'input', 'x') } catch (error) { [error.code, error.details.title] }`),
    ['ACTION_FAILED', 'Login'],
  );
  // A busy machine may need the tenth of a second in which the script could still say so.
  await t.rejects(run(`agent.wait('{h1}Never', { timeout: 60000 })`, 500), { code: /^(WAIT|EVAL)_TIMEOUT$/ });
});

t.test('Waits end a tenth of a second before the script does', (t) => {
  const { signal } = new AbortController();
  const site = { kind: 'script', flow: null, flowRun: null, line: null, column: null } as const;
  const before = performance.now();
  const { deadline } = boundsOf({ signal, site, remainingMs: () => 500, pause: () => () => undefined }, 60_000);
  t.ok(deadline >= before + 400 && deadline <= performance.now() + 400);
  t.end();
});

t.end();
