import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { readYaml } from '../../scripts/support/read-yaml.mjs';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome } from '../support/service.js';
import { createDatabase, ownPostgres, postgresMissing } from '../support/test-store.js';

guardLeaks(t);

const FOLDER = 'deploy/kubernetes';
const POD = 'troupe-0';
const ADMIN = 'the-token-of-the-secret';

const Command = z.object({ exec: z.object({ command: z.array(z.string()).min(1) }) });
const Reference = z.object({ secretKeyRef: z.object({ key: z.string() }).optional() });
const Container = z.object({
  command: z.array(z.string()).min(1),
  env: z.array(z.object({ name: z.string(), value: z.string().optional(), valueFrom: Reference.optional() })),
  startupProbe: Command,
  readinessProbe: Command,
  livenessProbe: Command,
  lifecycle: z.object({ preStop: Command }),
});
const StatefulSet = z.object({
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.tuple([Container]) }) }) }),
});
const ScaledObject = z.object({
  spec: z.object({ triggers: z.tuple([z.object({ metadata: z.record(z.string(), z.string()) })]) }),
});

const yamlOf = (name: string): unknown => readYaml(readFileSync(join(FOLDER, name), 'utf8'))[0];

/** The variables of the pod, as Kubernetes would fill them in. */
function environmentOf(
  { env }: z.infer<typeof Container>,
  secret: { readonly [key: string]: string },
): { readonly [name: string]: string } {
  const filled: { [name: string]: string } = {};
  for (const { name, value, valueFrom } of env) {
    const key = valueFrom?.secretKeyRef?.key;
    const text = value ?? (key === undefined ? POD : secret[key]) ?? '';
    filled[name] = text.replaceAll(/\$\((\w+)\)/g, (_, earlier: string) => filled[earlier] ?? '');
  }
  return filled;
}

t.test(
  'The commands of the StatefulSet, with its variables and settings, start a node, probe it, and drain it',
  { skip: await postgresMissing() },
  async (t) => {
    const { containers } = StatefulSet.parse(yamlOf('stateful-set.yaml')).spec.template.spec;
    const [container] = containers;
    const server = await ownPostgres(t);
    const database = await createDatabase(server.url('postgres'));
    const home = makeHome(t);
    const port = await freePort();
    const settings: unknown = JSON.parse(readFileSync(join(FOLDER, 'troupe.json'), 'utf8'));
    // A pod has its address to itself; a test has a port of this machine.
    writeFileSync(join(home, 'troupe.json'), JSON.stringify({ ...Object(settings), host: '127.0.0.1', port }));
    const bin = join(home, 'bin');
    mkdirSync(bin);
    symlinkSync(resolve('dist/cli.js'), join(bin, 'troupe'));
    const { PATH = '', ...own } = process.env;
    const given = environmentOf(container, { admin: ADMIN, 'cluster-key': 'k'.repeat(44), database });
    const env = { ...own, ...given, TROUPE_HOME: home, PATH: `${bin}${delimiter}${PATH}` };
    const start = ([file = '', ...words]: readonly string[]): { child: ChildProcess; output: () => string } => {
      const child = spawn(file, words, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
      return { child, output: () => said };
    };
    const run = async (...command: readonly string[]) => {
      const { child, output } = start(command);
      const [code] = await once(child, 'close');
      return { code, output: output() };
    };
    const codeOf = async ({ exec }: z.infer<typeof Command>) => (await run(...exec.command)).code;

    const node = start(container.command);
    const closed = once(node.child, 'close');
    t.teardown(async () => {
      node.child.kill('SIGKILL');
      await closed;
    });
    await eventually('the startup probe succeeds', async () => {
      if (node.child.exitCode !== null) throw new Error(`The node ended: ${node.output()}`);
      return (await codeOf(container.startupProbe)) === 0;
    });
    await eventually('the node is ready', async () => (await codeOf(container.readinessProbe)) === 0);
    t.equal(await codeOf(container.livenessProbe), 0);
    const listed = await run('troupe', 'nodes');
    t.match(
      listed.output,
      /^troupe-0 +up +0\/20 .* http:\/\/troupe-0\.troupe-nodes:4444 /,
      'under the name of the pod',
    );

    const { metadata } = ScaledObject.parse(yamlOf('scaled-object.yaml')).spec.triggers[0] ?? {};
    const url = new URL(metadata.url ?? '');
    const asked = async () => {
      const headers = { host: url.host, authorization: `Bearer ${ADMIN}` };
      const { json } = await httpCall(`http://127.0.0.1:${port}`, { method: 'GET', path: url.pathname, headers });
      const place = (metadata.valueLocation ?? '').split('.');
      return place.reduce<unknown>((value, key) => Reflect.get(Object(value), key), json);
    };
    t.equal(await asked(), 0, 'KEDA is answered under the name of the Service');
    const { live, run: evaluate, call } = client(`http://127.0.0.1:${port}`, { authorization: `Bearer ${ADMIN}` });
    const { id } = await live();
    await eventually('KEDA is told of the session', async () => (await asked()) === 1);

    t.equal(await codeOf(container.lifecycle.preStop), 0);
    t.equal(await codeOf(container.readinessProbe), 1, 'a pod that drains gets no new clients');
    t.equal(await codeOf(container.livenessProbe), 0, 'and is not killed for it');
    node.child.kill('SIGTERM');
    t.match(await evaluate(id, '1 + 1'), { status: 200, body: 2 }, 'SIGTERM waits for what runs');
    await call('DELETE', `/api/sessions/${id}`);
    await closed;
    t.equal(node.child.exitCode, 0, 'then it ends by itself');
  },
);
