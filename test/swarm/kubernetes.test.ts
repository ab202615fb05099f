import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { WORKER_SOURCES } from '#troupe/containers/docker/worker-image.js';
import { readYaml } from '../../scripts/support/read-yaml.mjs';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { ownFolder } from './command.js';
import { BUILD_PROGRAMS, giveImages, IMAGES } from './images.js';
import { ENGINE_PROGRAMS, type Machine, makeMachines } from './machines.js';

guardLeaks(t);

const FOLDER = join(WORKER_SOURCES, '../deploy/kubernetes');
const STARTED_MS = 300_000;
const DATABASE = 'postgres://troupe:a-password@database:5432/troupe';

const Command = z.object({ exec: z.object({ command: z.array(z.string()) }) });
const StatefulSet = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        securityContext: z.object({ runAsUser: z.int(), runAsGroup: z.int() }),
        containers: z.tuple([
          z.object({
            command: z.array(z.string()),
            env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
            startupProbe: Command,
            readinessProbe: Command,
            livenessProbe: Command,
            lifecycle: z.object({ preStop: Command }),
          }),
        ]),
      }),
    }),
  }),
});

const skip =
  process.getuid?.() === 0
    ? skipWithout(...ENGINE_PROGRAMS, ...BUILD_PROGRAMS)
    : 'network namespaces and Docker engines need root';

t.test(
  'The commands of the StatefulSet, with its user and rights, run a node, probe it and drain it',
  { skip, timeout: 3_600_000 },
  async (t) => {
    const { all } = await makeMachines(t, 1);
    const [machine] = all;
    if (machine === undefined) throw new Error('one machine');
    await giveImages(t, all);
    await startDatabase(machine);
    const { spec } = StatefulSet.parse(readYaml(readFileSync(join(FOLDER, 'stateful-set.yaml'), 'utf8'))[0]).spec
      .template;
    const [container] = spec.containers;
    const { runAsUser, runAsGroup } = spec.securityContext;
    const user = `${runAsUser}:${runAsGroup}`;
    // As the volumes and the secret of the pod would bring it.
    const secrets = { TROUPE_ADMIN: 'a-token', TROUPE_CLUSTER_KEY: 'k'.repeat(32), TROUPE_DATABASE: DATABASE };
    const variables = container.env.map(({ name, value }): [string, string] => [
      name,
      value?.replaceAll('$(POD_NAME)', 'troupe-0') ?? Reflect.get({ ...secrets, POD_NAME: 'troupe-0' }, name),
    ]);
    // As a volume with the pod's group.
    const prepare = `mkdir lost+found && chgrp ${runAsGroup} . && chmod 2775 .`;
    const asRoot = ['--volume', 'home:/var/lib/troupe', '--workdir', '/var/lib/troupe', '--entrypoint', 'sh'];
    await machine.docker('run', '--rm', ...asRoot, IMAGES.troupe, '-c', prepare);
    const rights = `--user ${user} --cap-drop ALL --security-opt no-new-privileges --shm-size 1g`;
    const network = '--hostname troupe-0 --network pods --network-alias troupe-0.troupe-nodes';
    const words = [
      ...`run --detach --init --name troupe-0 ${network} ${rights} --volume home:/var/lib/troupe`.split(' '),
      ...['--security-opt', `seccomp=${join(WORKER_SOURCES, 'seccomp.json')}`],
      ...['--volume', `${join(FOLDER, 'troupe.json')}:/var/lib/troupe/troupe.json:ro`],
      ...variables.flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ];
    await machine.docker(...words, IMAGES.troupe, ...container.command);
    const inside = (...command: string[]) => machine.docker('exec', 'troupe-0', ...command);
    const succeeds = ({ exec }: z.infer<typeof Command>) =>
      inside(...exec.command).then(
        () => true,
        () => false,
      );
    await eventually('the startup probe succeeds', () => succeeds(container.startupProbe), STARTED_MS).catch(
      async (error) => {
        throw new Error(`${error.message}: ${await machine.docker('logs', 'troupe-0')}`);
      },
    );
    await eventually('it accepts work', () => succeeds(container.readinessProbe), STARTED_MS);
    t.equal(await succeeds(container.livenessProbe), true);
    const nodes = await machine.docker('exec', '--env', 'TROUPE_TOKEN=a-token', 'troupe-0', 'troupe', 'nodes');
    t.match(nodes, /^troupe-0 +up +0\/20 .* http:\/\/troupe-0.troupe-nodes:4444/, 'it is a node under its own name');
    const flow = join(ownFolder(t), 'page.js');
    writeFileSync(flow, 'agent.go("data:text/html,<h1>one</h1>"); match(agent.text("h1"), "one")');
    await machine.docker('cp', flow, 'troupe-0:/tmp/page.js');
    const place = 'exec --env TROUPE_TOKEN=a-token --env TROUPE_HOME=/tmp --workdir /tmp troupe-0';
    const command = 'troupe run page.js --url http://127.0.0.1:4444';
    const said = await machine.docker(...`${place} ${command}`.split(' '));
    t.match(said, /1 passed/, 'a browser with its sandbox');
    await inside(...container.lifecycle.preStop.exec.command).catch(() => undefined);
    const code = await machine.docker('wait', 'troupe-0');
    t.equal(code, '0', 'it has drained');
  },
);

async function startDatabase({ docker, home }: Machine): Promise<void> {
  writeFileSync(join(home, 'password'), 'a-password');
  await docker('network', 'create', 'pods');
  const env = ['POSTGRES_USER=troupe', 'POSTGRES_DB=troupe', 'POSTGRES_PASSWORD_FILE=/password'];
  await docker(
    ...['run', '--detach', '--name', 'database', '--network', 'pods', '--volume', '/var/lib/postgresql/data'],
    ...['--volume', '/var/lib/troupe/password:/password:ro', ...env.flatMap((pair) => ['--env', pair])],
    ...[IMAGES.postgres, 'postgres'],
  );
  const answers = () =>
    docker('exec', 'database', 'pg_isready', '--quiet', '--host=database').then(
      () => true,
      () => false,
    );
  await eventually('the database answers', answers, STARTED_MS);
}
