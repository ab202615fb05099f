import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const service = await startTestService(t, { maxSessions: 1 });
const { page, shows } = await openReader(t);

/** A line to the service that can stop carrying anything while both ends believe that it is open. */
async function openLine() {
  const sockets = new Set<Socket>();
  let carries = true;
  const line = createServer((near) => {
    const far = connect(Number(new URL(service.url).port), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (bytes) => carries && to.write(bytes));
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  t.teardown(async () => {
    line.close();
    for (const socket of sockets) socket.destroy();
    await once(line, 'close');
  });
  return {
    url: `http://127.0.0.1:${(line.address() as AddressInfo).port}`,
    cut: () => {
      carries = false;
    },
    restore: () => {
      carries = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

t.test('A connection that carries nothing any more is shown as stopped, and comes back', async (t) => {
  const line = await openLine();
  const { id } = await service.live({ name: 'Watched' });
  await page.goto(`${line.url}/#/sessions/${id}`);
  await service.run(id, `console.log('before')`);
  await shows('console: before');
  line.cut();
  await service.run(id, `console.log('meanwhile')`);
  const text = (what: string) => page.getByText(what).first();
  await eventually('the page says so', () => text('Not live since').isVisible(), 120_000);
  await shows('Stopped: what happened since is shown');
  await shows('This picture is not live');
  t.equal(await page.evaluate('document.documentElement.className'), 'stopped', 'what moves stands still');
  const clock = `[...document.querySelectorAll('main *')].map((one) => one.textContent).join()`;
  const shown = await page.evaluate(clock);
  const at: number = await page.evaluate('Date.now()');
  await eventually('seconds pass', () => page.evaluate(`Date.now() > ${at + 2_500}`));
  t.equal(await page.evaluate(clock), shown, 'no duration goes on');
  line.restore();
  await shows('console: meanwhile');
  await eventually('it is live again', async () => !(await text('Not live since').isVisible()));
});
