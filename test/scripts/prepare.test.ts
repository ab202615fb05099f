import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import t from 'tap';
import { assertRegistry } from '../../scripts/support/registry.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** An address of this machine at which nothing listens, or somebody who never says a word. */
async function listener(t: { teardown(end: () => unknown): void }) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise<unknown>((closed) => server.close(closed));
  };
  t.teardown(close);
  return { url: `http://127.0.0.1:${port}/`, close };
}

t.test(
  'Where no registry can be reached, npm start says so in one sentence and leaves the packages alone',
  async (t) => {
    const root = t.testdir();
    for (const path of [
      'scripts',
      'package.json',
      'package-lock.json',
      '.npmrc',
      'request-client/package.json',
      'web/package.json',
    ]) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await cp(path, join(root, path), { recursive: true });
    }
    await mkdir(join(root, 'node_modules'));
    await writeFile(join(root, 'node_modules', 'kept'), '');
    const { url, close } = await listener(t);
    await close();
    const env = { ...process.env, npm_config_registry: url };
    const { code, stderr } = await new Promise<{ code: number | null; stderr: string }>((done) => {
      const child = execFile(process.execPath, ['scripts/start.mjs'], { cwd: root, env }, (_, _stdout, stderr) =>
        done({ code: child.exitCode, stderr }),
      );
    });
    t.equal(code, 1);
    t.match(
      stderr,
      /^The package registry http:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\. Connect [^\n]*\n$/,
    );
    t.same(await readdir(join(root, 'node_modules')), ['kept']);
    t.notOk((await readdir(root)).includes('.packages'), 'what was begun is removed');
  },
);

t.test('A registry that takes connections and never answers is given up, too', async (t) => {
  const { url } = await listener(t);
  const before = process.env.npm_config_registry;
  t.teardown(() => {
    if (before === undefined) delete process.env.npm_config_registry;
    else process.env.npm_config_registry = before;
  });
  process.env.npm_config_registry = url;
  await t.rejects(assertRegistry('.', 100), { message: /cannot be reached \(no answer within 0\.1 s\)/ });
});
