import t from 'tap';
import { SessionId } from '#troupe/protocol/session.js';
import { killBrowser } from '../support/browsers.js';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';
import { StreamClient } from '../support/stream-client.js';

guardLeaks(t);

/** A page that watches a session, and connects again when it loses the service, as the dashboard does. */
class Watcher {
  readonly seqs: number[] = [];
  #client: StreamClient | null = null;

  async watch(url: string, id: SessionId): Promise<void> {
    this.#take();
    this.#client = await StreamClient.open(url);
    this.#client.ask({ type: 'watchSession', id, after: this.seqs.at(-1) ?? 0 });
    this.#client.ask({ type: 'watchScreen', id, pace: 'live' });
  }

  get client(): StreamClient {
    if (this.#client === null) throw new Error('It does not watch');
    return this.#client;
  }

  /** Every number that it was ever sent, the repeated ones left out. */
  all(): readonly number[] {
    this.#take();
    return this.seqs;
  }

  #take(): void {
    const news = this.#client?.seqs().filter((seq) => seq > (this.seqs.at(-1) ?? 0)) ?? [];
    this.#client?.messages.splice(0);
    this.seqs.push(...news);
  }
}

t.test(
  'Pages that are open see all of a session whose service was killed, and its end when its browser is',
  async (t) => {
    const home = makeHome(t);
    // Not 0: the system lets a port that it chose be taken again only after a while.
    const port = String(await freePort());
    const first = await startServiceProcess(t, home, '--port', port);
    const before = client(first.url);
    const { id } = await before.live();
    const sessionId = SessionId.parse(id);
    await before.run(id, `agent.go('data:text/html,<title>kept</title><h1>kept</h1>')`);
    const watchers = Array.from({ length: 5 }, () => new Watcher());
    await Promise.all(watchers.map((watcher) => watcher.watch(first.url, sessionId)));
    await Promise.all(watchers.map(({ client }) => client.until(() => client.of('frame').length > 0)));
    const talking = before
      .run(id, `for (let n = 0; ; n += 1) { console.log(n); agent.wait(5); }`)
      .catch(() => undefined);
    await watchers[0]?.client.until((one) => one.seqs().length > 50);
    const ends = watchers.map(({ client }) => client.closed);
    await first.end('SIGKILL');
    await Promise.all([...ends, talking]);

    const second = await startServiceProcess(t, home, '--port', port);
    const after = client(second.url);
    await Promise.all(watchers.map((watcher) => watcher.watch(second.url, sessionId)));
    await Promise.all(watchers.map(({ client }) => client.until(() => client.of('frame').length > 0)));
    t.match(await after.run(id, 'agent.text("h1")'), { body: 'kept' }, 'its page is as it was');

    killBrowser(id);
    await Promise.all(watchers.map(({ client }) => client.until(() => client.of('over').length === 1)));
    const text: string = (await after.call('GET', `/api/sessions/${id}/events`)).body;
    const whole = [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
    for (const watcher of watchers) t.same(watcher.all(), whole, 'each event once, in order');
    t.match((await after.call('GET', `/api/sessions/${id}`)).body, {
      status: 'failed',
      error: { code: 'WORKER_LOST' },
    });
    await Promise.all(watchers.map(({ client }) => client.close()));
    t.match(await after.run((await after.live()).id, '1'), { body: 1 }, 'the service is well');
    await second.end('SIGTERM');
  },
);
