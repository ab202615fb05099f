import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { commandNames } from '#troupe/cli/help.js';
import { readConfig } from '#troupe/config.js';
import { readYaml } from '../../scripts/support/read-yaml.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const DEPLOY = join(process.cwd(), 'deploy');
const ENV = { TROUPE_ADMIN: 'a', TROUPE_CLUSTER_KEY: 'k'.repeat(32), TROUPE_DATABASE: 'postgres://db/troupe' };

/** A value of YAML whose members are followed by their names. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), value);
}

const textOf = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');
const yamlOf = (path: string): readonly unknown[] => readYaml(textOf(path));

/** The configuration of a `troupe.json`, as a node reads it. */
function configOf(t: Test, settings: string) {
  const home = t.testdir({ 'troupe.json': settings });
  return readConfig({}, { ...ENV, TROUPE_HOME: home, TROUPE_NODE_URL: 'http://10.0.0.7:4444' });
}

/** Seconds of `11m` or `30s`. */
function seconds(text: unknown): number {
  const [, count, unit] = /^(\d+)([sm])$/.exec(String(text)) ?? [];
  return Number(count) * (unit === 'm' ? 60 : 1);
}

t.test('The stack gives a node the time that it needs to drain', async (t) => {
  const [stack] = yamlOf('stack.yml');
  const config = configOf(t, textOf('stack/troupe.json'));
  const node = at(stack, 'services', 'troupe');
  t.equal(config.driver, 'docker');
  t.match(config, { node: { url: 'http://10.0.0.7:4444' }, token: 'a' });
  t.ok(seconds(at(node, 'stop_grace_period')) > config.drainTimeout, 'before it is killed');
  t.ok(
    seconds(at(node, 'healthcheck', 'start_period')) > seconds(at(node, 'stop_grace_period')),
    'its successor waits so long',
  );
  const proxy = at(stack, 'services', 'docker-proxy');
  t.ok(
    seconds(at(proxy, 'stop_grace_period')) > seconds(at(node, 'stop_grace_period')),
    'the proxy to the engine outlives it',
  );
  for (const service of Object.values(Object(at(stack, 'services')))) {
    t.equal(at(service, 'deploy', 'endpoint_mode'), 'dnsrr');
    const secrets = z.array(z.string()).parse(at(service, 'secrets') ?? []);
    for (const secret of secrets) t.ok(at(stack, 'secrets', secret), secret);
  }
  const env = z.record(z.string(), z.string()).parse(at(node, 'environment'));
  const named = ['TROUPE_ADMIN', 'TROUPE_DATABASE', 'TROUPE_CLUSTER_KEY'].map((name) => env[`${name}_FILE`]);
  t.same(named, ['/run/secrets/troupe_admin', '/run/secrets/troupe_database', '/run/secrets/troupe_cluster_key']);
});

t.test('The Kubernetes manifests fit each other and the command line', async (t) => {
  const [kustomization] = yamlOf('kubernetes/kustomization.yaml');
  const names = readdirSync(join(DEPLOY, 'kubernetes'));
  const parts = names.filter((name) => name.endsWith('.yaml') && !/^(kustomization|secret\.template)\./.test(name));
  t.same([...z.array(z.string()).parse(at(kustomization, 'resources'))].sort(), parts.sort(), 'all are applied');
  const config = configOf(t, textOf('kubernetes/troupe.json'));
  const [set] = yamlOf('kubernetes/stateful-set.yaml');
  const pod = at(set, 'spec', 'template', 'spec');
  const container = at(pod, 'containers', 0);
  const preStop = z.array(z.string()).parse(at(container, 'lifecycle', 'preStop', 'exec', 'command'));
  const pause = Number(/sleep (\d+)/.exec(preStop.join(' '))?.[1]);
  t.ok(
    Number(at(pod, 'terminationGracePeriodSeconds')) > config.drainTimeout + pause,
    'a pod may drain before it is killed',
  );
  const commands = [at(container, 'command'), preStop];
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
    commands.push(at(container, probe, 'exec', 'command'));
  for (const command of commands) {
    const name = /troupe (\w+)/.exec(z.array(z.string()).parse(command).join(' '))?.[1] ?? '';
    t.ok(commandNames().includes(name), `troupe ${name}`);
  }
  const [secret] = yamlOf('kubernetes/secret.template.yaml');
  const keys = Object.keys(Object(at(secret, 'stringData')));
  const env = z.array(z.object({ name: z.string(), valueFrom: z.unknown().optional() })).parse(at(container, 'env'));
  const used = env.flatMap(({ valueFrom }) => at(valueFrom, 'secretKeyRef', 'key') ?? []);
  t.same(used.sort(), keys.sort(), 'each key of the secret is used');
  const [scaled, authentication] = yamlOf('kubernetes/scaled-object.yaml');
  t.equal(
    at(scaled, 'spec', 'triggers', 0, 'metadata', 'targetValue'),
    String(config.maxSessions),
    'a node for each that a node runs',
  );
  t.ok(keys.includes(String(at(authentication, 'spec', 'secretTargetRef', 0, 'key'))));
  const service = new URL(String(at(scaled, 'spec', 'triggers', 0, 'metadata', 'url'))).hostname;
  t.ok(config.allowedHosts.includes(service), 'KEDA may call it by this name');
  const labels = at(set, 'spec', 'selector', 'matchLabels');
  const files = ['services', 'network-policies', 'disruption-budget'].flatMap((name) =>
    yamlOf(`kubernetes/${name}.yaml`),
  );
  for (const object of files) {
    const { selector, podSelector } = z
      .object({ selector: z.unknown(), podSelector: z.unknown() })
      .partial()
      .parse(at(object, 'spec'));
    const chosen = selector ?? podSelector;
    t.same(at(chosen, 'matchLabels') ?? chosen, labels, `${at(object, 'kind')} ${at(object, 'metadata', 'name')}`);
  }
});

t.test('A node that is set up by hand, as docs/scaling.md says, has the time that it needs to drain', async (t) => {
  const text = readFileSync('docs/scaling.md', 'utf8');
  const example = (language: string): string =>
    new RegExp(`^( *)\`\`\`${language}\\n([^]*?)\\n\\1\`\`\``, 'm').exec(text)?.[2] ?? '';
  const config = configOf(t, example('json'));
  t.match(config, { node: { url: 'http://10.0.0.7:4444' }, token: 'a' });
  t.ok(Number(/TimeoutStopSec=(\d+)/.exec(example('ini'))?.[1]) > config.drainTimeout, 'with systemd');
  const [compose] = readYaml(example('yaml'));
  t.ok(seconds(at(compose, 'services', 'troupe', 'stop_grace_period')) > config.drainTimeout, 'with Docker Compose');
});
