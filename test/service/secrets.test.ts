import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, startModelServer } from '../support/model-server.js';
import { client, makeHome } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

/** Found nowhere by chance, and different in every spelling. */
const CANARY = 'c4n4ry "quoted" & <sp aced>/é';
const KEY = 'sk-canary-0123456789abcdef';

t.test('the values of secrets and keys reach the page and the provider, and stand nowhere else', async (t) => {
  const site = await openSite(t);
  const got: string[] = [];
  // A page that says everything again that it is told: in its address, its text, its fields, its console and its errors.
  const page = site.set('/', (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', site.origin);
    const said = searchParams.get('said') ?? '';
    if (said !== '') got.push(said);
    const safe = said.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(
      `<title>${safe}</title><form><input name=said aria-label=Say value="${safe}"><button>Send</button></form><p>${safe}</p>
       <script>const said = document.querySelector('input').value; if (said) setTimeout(() => { throw new Error(said) })</script>`,
    );
  });
  const steps = `agent.act('{input}Say', 'input', '{{canary}}'); agent.act('{button}Send', 'click');
    console.log(agent.text('p')); agent.look({full: true}); agent.page('document.title');`;
  const model = await startModelServer(
    t,
    [
      evaluate(`agent.go('${page}'); ${steps} agent.text('p')`),
      evaluate(`agent.go('${page}?said={{canary}}'); agent.act('{button}Not here', 'click')`),
      done(true, 'said it'),
    ],
    { apiKey: KEY },
  );
  const home = makeHome(t, {
    models: ['scripted/m'],
    providers: { scripted: { baseURL: model.baseURL, apiKeyEnv: 'TROUPE_CANARY_KEY' } },
    warmSessions: 0,
    actTimeout: 1,
    forward: [Number(new URL(site.origin).port)],
  });
  writeFileSync(
    join(home, 'flows', 'say.js'),
    `(args) => { agent.go('${page}'); ${steps} agent.act('{button}No', 'click'); }`,
  );
  process.env.TROUPE_CANARY_KEY = KEY;
  t.teardown(() => {
    delete process.env.TROUPE_CANARY_KEY;
  });
  const service = await startServiceProcess(t, home);
  const { job, call } = client(service.url);
  const record = await job({
    prompt: 'Say it',
    flowFiles: ['say.js'],
    secrets: { canary: CANARY },
    maxIterations: 5,
  });
  t.match(record, { state: 'completed', summary: 'said it' });
  t.same(got, [CANARY, CANARY, CANARY], 'the page got the value each time');
  t.ok(model.requests.every(({ authorization }) => authorization === `Bearer ${KEY}`));

  const zip = await readZip(`${service.url}${record.links.download}`);
  const seen = new Map<string, string | Buffer>([
    ...[...zip].map(([name, content]): [string, Buffer] => [`zip ${name}`, content]),
    ...model.requests.map(({ text }, index): [string, string] => [`prompt ${index}`, text]),
    ['record', JSON.stringify(record)],
    ['events', (await call('GET', `/api/sessions/${record.id}/events`)).body],
    ['list', JSON.stringify((await call('GET', '/api/sessions')).body)],
  ]);
  t.match(String(seen.get('prompt 1')), /\{\{canary\}\}/, 'the model is told of it by its name');
  t.same(await service.end('SIGTERM'), { code: 0, signal: null });
  for (const file of filesUnder(home)) seen.set(`file ${file}`, readFileSync(join(home, file)));
  seen.set('log', service.output());
  t.ok([...seen.keys()].some((name) => name.includes('troupe.db')));
  const leaks = [...seen].flatMap(([name, content]) => leaksIn(name, content));
  t.same(leaks, []);
});

/** Each with what stands around it. */
function leaksIn(name: string, content: string | Buffer): readonly string[] {
  return [CANARY, KEY, ...spellings(CANARY)].flatMap((secret) => {
    const at = content.indexOf(secret);
    return at === -1 ? [] : [`${name}: ${content.slice(Math.max(0, at - 60), at + secret.length + 20)}`];
  });
}

/** As a value is written in JSON, in an address, in markup. */
function spellings(value: string): readonly string[] {
  const markup = value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
  return [JSON.stringify(value).slice(1, -1), encodeURIComponent(value), markup, 'c4n4ry'];
}

function filesUnder(dir: string): readonly string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1));
}
