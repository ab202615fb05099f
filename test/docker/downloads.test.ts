import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import t from 'tap';
import { containerOf, runInside, skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const MEGABYTE = 1_048_576;

t.test(
  'A session downloads no larger file, and no more, than worker.downloads, and goes on without',
  { skip: skipWithoutDocker },
  async (t) => {
    const chunk = Buffer.alloc(MEGABYTE);
    /** Files whose answer was taken, or given up. */
    const over = new Set<string>();
    const site = createServer((request, response) => {
      const [, name = '', megabytes = ''] = /^\/(\w+\.txt)\?(\d+)$/.exec(request.url ?? '') ?? [];
      const bytes = Number(megabytes) * MEGABYTE;
      response.writeHead(200, {
        'content-type': name === '' ? 'text/html' : 'text/plain',
        ...(name === '' ? {} : { 'content-length': bytes, 'content-disposition': `attachment; filename=${name}` }),
      });
      if (name !== '') response.once('close', () => over.add(name));
      if (name === '') response.end('<title>here</title>');
      else Readable.from(Array.from({ length: Number(megabytes) }, () => chunk)).pipe(response);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    t.teardown(() => site.close().closeAllConnections());
    const { port } = site.address() as AddressInfo;
    const service = await startTestService(t, { driver: 'docker', worker: { downloads: 192 } });
    const { id } = await service.live({ forward: [port] });
    const value = async (js: string) => (await service.run(id, js)).body;
    // Several by one page without a press: a browser on a desktop would ask a person.
    const save = (name: string, megabytes: number) =>
      value(
        `agent.page(${JSON.stringify(`
          const link = document.createElement('a');
          link.href = '/${name}?${megabytes}';
          link.click()`)})`,
      );
    const has = async (name: string, bytes: number) => {
      const found: { name: string; bytes: number }[] = await value('agent.downloads()');
      return found.some((one) => one.name === name && one.bytes === bytes);
    };
    await value(`agent.go('http://localhost:${port}/')`);
    const inside = async (command: string) =>
      (await runInside(await containerOf(id), `cd "$(dirname $TROUPE_SOCKETS)/downloads" && ${command}`)).code === 0;
    await save('large.txt', 200);
    await eventually('the browser has given up the large file', () => over.has('large.txt'), 120_000);
    await eventually('nothing of the large file is left', () => inside('test -z "$(ls)"'), 120_000);
    for (const [name, megabytes] of [
      ['one.txt', 100],
      ['two.txt', 90],
    ] as const) {
      await save(name, megabytes);
      await eventually(`${name} is there`, () => has(name, megabytes * MEGABYTE), 120_000);
    }
    t.notOk(await has('large.txt', 200 * MEGABYTE), 'a file past the limit is not kept');
    t.ok(await inside('test -w .'));
    await save('three.txt', 3);
    await eventually('the folder is closed to the browser', () => inside('test ! -w .'));
    await save('four.txt', 1);
    await eventually('the browser has asked for it', () => over.has('four.txt'));
    t.notOk(await has('four.txt', MEGABYTE), 'nor a file after that');
    t.equal(await value(`agent.page('document.title')`), 'here');
    const { body: files }: { body: { name: string }[] } = await service.call('GET', `/api/sessions/${id}/files`);
    const names = files.map(({ name }) => name);
    t.same([names.includes('one.txt'), names.includes('two.txt'), names.includes('four.txt')], [true, true, false]);
    t.match((await service.call('GET', `/api/sessions/${id}`)).body, { state: 'running' });
  },
);
