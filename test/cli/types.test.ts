import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { checkFlow } from '#troupe/agent-js/flows/flow-check.js';
import { guardLeaks } from '../support/leaks.js';
import { runTroupe } from '../support/service-process.js';

guardLeaks(t);

/** Each with the line of its mistake. */
const FLOW = `interface Args { user: string; retries: number }
({ user, retries }: Args) => {
  agent.act('{input}User', 'tipe', user);
  agent.wait('idle', { timeOut: 5 });
  agent.expect('h1').toHaveTxt('Hello');
  const title: number = agent.text('h1');
  Flow.run(retries);
  return title;
};
`;

/** A suite as teams have one: half of its flows have a mistake each, which only types show. */
const SUITE: Readonly<Record<string, string>> = {
  '_setup.ts': `({ base }: { base: string }) => {
  agent.go(base + '/login');
  agent.act('{button}Log in', 'click');
  const { origins, cookies } = agent.saveState('shop', { expiresIn: 3600 });
  return { user: 'ada', origins, cookies };
};`,
  'login.ts': `// Logs in. @smoke
interface Args { base: string; user?: string }
({ base, user = 'ada' }: Args): string => {
  const { status } = agent.go(base + '/login');
  match(status, 200);
  agent.act('{input}User name', 'input', user);
  agent.act('{button}Log in', 'click', { timeout: 5000 });
  agent.expect('.who').toHaveText(user);
  return agent.text('.who');
};`,
  'cart/add.ts': `({ count }: { count: number }) => {
  for (let n = 0; n < count; n += 1) agent.act('{button}Add to cart', 'click');
  agent.expect('{li}').toHaveCount(count, { timeout: 2000 });
  const rows = agent.until(() => {
    const found = agent.look().elements.filter(({ role }) => role === 'li');
    return found.length === count && found;
  });
  return rows;
};`,
  'cart/prices.ts': `type Row = { readonly name: string; readonly price: number };
() => {
  agent.mock('**/api/prices', { json: [{ name: 'Tea', price: 3 } satisfies Row], delay: 20 });
  const [asked] = agent.requests({ url: '**/api/prices', method: 'GET' });
  match(asked, { status: 200 });
  agent.expectScreenshot('prices', { mask: ['.time'], threshold: 0.1 });
};`,
  'chat.ts': `() => {
  const ben = agent.session('ben', { state: 'ben' });
  ben.go('https://shop.example/chat');
  agent.act('{input}Message', 'input', 'Tea?');
  ben.expect('{li}Tea?').toBeVisible();
  agent.clock.fastForward('30:00');
  return [agent.vitals().lcp, agent.audit().violations.length];
};`,
  'broken/action.ts': `({ user }: { user: string }) => {
  agent.act('{input}User name', 'input', user);
  agent.act('{button}Log in', 'clik');
};`,
  'broken/option.ts': `() => {
  agent.go('https://shop.example');
  agent.wait('{h1}Cart', { timout: 500 });
};`,
  'broken/result.ts': `() => {
  const total: number = agent.text('.total');
  match(total, 12);
};`,
  'broken/matcher.ts': `() => {
  agent.expect('{li}').toHaveCount('3');
};`,
  'broken/member.ts': `() => {
  agent.go('https://shop.example');
  for (const { name, label } of agent.look().elements) console.log(name, label);
};`,
};
/** The mistakes of the suite: file, line, and what TypeScript calls it. */
const PLANTED = [
  ['broken/action.ts', 3, /"clik"/],
  ['broken/matcher.ts', 2, /string.*number/],
  ['broken/member.ts', 3, /label/],
  ['broken/option.ts', 3, /timout/],
  ['broken/result.ts', 2, /number/],
] as const;

/** What TypeScript's language service, which editors ask, says of flows after `troupe types`. */
async function diagnosticsOf(t: Test, flows: Readonly<Record<string, string>>) {
  const home = t.testdir({ flows: {} });
  const folder = join(home, 'flows');
  for (const [path, text] of Object.entries(flows)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const wrote = await runTroupe(home, 'types', '--flows', folder);
  t.match(wrote, { code: 0, output: /troupe\.d\.ts\n/ });
  const settings: unknown = JSON.parse(wrote.output.slice(wrote.output.indexOf('{')));
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(settings, ts.sys, folder);
  t.same(errors, []);
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) =>
      ts.sys.fileExists(file) ? ts.ScriptSnapshot.fromString(readFileSync(file, 'utf8')) : undefined,
    getCurrentDirectory: () => home,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
  });
  t.teardown(() => service.dispose());
  const names = fileNames.map((file) => relative(folder, file));
  const found = fileNames.flatMap((file) =>
    [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map(
      ({ start = 0, messageText }) => {
        const path = relative(folder, file);
        const line = (flows[path] ?? '').slice(0, start).split('\n').length;
        return { path, line, message: ts.flattenDiagnosticMessageText(messageText, ' ') };
      },
    ),
  );
  return { names, found: found.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line) };
}

t.test("troupe types writes types with which TypeScript's language service finds five planted mistakes", async (t) => {
  const { found } = await diagnosticsOf(t, { 'login.ts': FLOW });
  t.same(
    found.map(({ line }) => line),
    [3, 4, 5, 6, 7],
  );
});

t.test(
  'Of a suite of ten flows the language service finds the five mistakes, each in its file, and no other',
  async (t) => {
    t.equal(Object.keys(SUITE).length, 10);
    const { names, found } = await diagnosticsOf(t, SUITE);
    for (const path of Object.keys(SUITE)) t.ok(names.includes(path), path);
    t.same(
      found.map(({ path, line }) => [path, line]),
      PLANTED.map(([path, line]) => [path, line]),
      JSON.stringify(found),
    );
    for (const [index, [path, , message]] of PLANTED.entries()) t.match(found[index]?.message, message, path);
    for (const [path, source] of Object.entries(SUITE)) {
      const faults = checkFlow(source, () => true, path);
      t.equal(faults.length, path === 'broken/action.ts' ? 1 : 0, `${path}: ${JSON.stringify(faults)}`);
    }
  },
);
