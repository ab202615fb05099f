import { readFileSync } from 'node:fs';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Whether deploy/docker-proxy.cfg lets a call through: its rules are `allow if <names of acls>`, then `deny`. */
function proxy(): (method: string, path: string) => boolean {
  const lines = readFileSync('deploy/docker-proxy.cfg', 'utf8').split('\n');
  const acls = new Map<string, ((method: string, path: string) => boolean)[]>();
  const rules: string[][] = [];
  for (const words of lines.map((line) => line.trim().split(/\s+/))) {
    const [keyword, name = '', kind, ...values] = words;
    if (keyword === 'acl') {
      const pattern = new RegExp(values[0] ?? '');
      const holds = (method: string, path: string) =>
        kind === 'method' ? values.includes(method) : pattern.test(path);
      acls.set(name, [...(acls.get(name) ?? []), holds]);
    }
    if (keyword === 'http-request' && name === 'allow') rules.push(words.slice(3));
  }
  acls.set('METH_POST', [(method) => method === 'POST']);
  acls.set('method-DELETE', [(method) => method === 'DELETE']);
  const names = (rule: readonly string[]) => rule.join(' ').replace('{ method DELETE }', 'method-DELETE').split(' ');
  return (method, path) =>
    rules.some((rule) => names(rule).every((name) => acls.get(name)?.some((holds) => holds(method, path)) === true));
}

t.test('the proxy before the engine lets through what the service calls, videos too, and nothing else', async (t) => {
  const passes = proxy();
  const wanted = [
    'GET /v1.41/version',
    'GET /v1.41/info',
    'GET /v1.41/events',
    'GET /v1.41/networks/bridge',
    'GET /v1.41/containers/json',
    'GET /v1.41/containers/0a1b/logs',
    'GET /v1.41/images/troupe-worker:0a1b/json',
    'POST /v1.41/containers/create',
    'POST /v1.41/containers/0a1b/start',
    'DELETE /v1.41/containers/troupe-0a1b-session',
    'POST /v1.41/containers/0a1b/exec',
    'POST /v1.41/exec/0a1b/start',
  ];
  const refused = [
    'POST /v1.41/build',
    'POST /v1.41/images/create',
    'POST /v1.41/exec/0a1b/resize',
    'GET /v1.41/exec/0a1b/start',
    'POST /v1.41/containers/0a1b/attach',
    'PUT /v1.41/containers/0a1b/archive',
    'POST /v1.41/volumes/create',
    'DELETE /v1.41/images/0a1b',
    'POST /v1.41/swarm/init',
  ];
  const through = (call: string) => passes(...(call.split(' ') as [string, string]));
  t.same(
    wanted.filter((call) => !through(call)),
    [],
  );
  t.same(refused.filter(through), []);
});
