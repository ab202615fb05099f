import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { containerOf, docker, skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

const PAGE = `data:text/html,<title>Film</title><h1>Film</h1><script>setInterval(() => {
  document.body.style.background = 'hsl(' + performance.now() / 10 + ' 80% 50%)' }, 50)</script>`;

t.test(
  'a video plays to where its container was killed, and one of a job that passed is not kept on-failure',
  {
    skip: skipWithoutDocker,
  },
  async (t) => {
    let film: Buffer = Buffer.alloc(0);
    const server = createServer((request, response) => {
      const isFilm = request.url === '/video.mp4';
      response.writeHead(200, { 'content-type': isFilm ? 'video/mp4' : 'text/html' });
      response.end(isFilm ? film : '<title>Cinema</title><video muted preload=auto></video>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    const service = await startTestService(t, { driver: 'docker', maxSessions: 3, forward: [port] });
    const dir = (id: string) => join(service.home, 'sessions', id);

    const { id } = await service.live({ video: 'on' });
    await service.run(id, `agent.go(${JSON.stringify(PAGE)})`);
    // Several seconds of it, however busy the machine is: 0.4 s have been seen to take 20 kB.
    await eventually('seconds of it are on disk', () => {
      return (statSync(join(dir(id), 'video.mp4'), { throwIfNoEntry: false })?.size ?? 0) > 100_000;
    });
    const running = await readZip(`${service.url}/api/sessions/${id}/download`);
    t.ok((running.get('video.mp4')?.length ?? 0) > 20_000, 'it is in the zip while the session runs');
    await docker('kill', await containerOf(id));
    await service.seen(id, 'SessionEnded');
    const ended = await readZip(`${service.url}/api/sessions/${id}/download`);
    film = ended.get('video.mp4') ?? film;
    t.match(JSON.parse(String(ended.get('report.json'))).artifacts, [
      {},
      {},
      { path: 'video.mp4', bytes: film.length },
    ]);
    t.ok(readFileSync(join(dir(id), 'video.mp4')).equals(film));

    writeFileSync(join(service.home, 'flows', 'nothing.js'), `() => agent.go(${JSON.stringify(PAGE)})`);
    const job = { flowFiles: ['nothing.js'], video: 'on-failure' };
    const passed = await service.job(job);
    t.match(passed, { state: 'completed' });
    t.notOk((await readZip(`${service.url}${passed.links.download}`)).has('video.mp4'));

    const cinema = await service.live();
    await service.run(cinema.id, `agent.go('http://localhost:${port}/')`);
    const seen = await service.run(
      cinema.id,
      `agent.page(\`new Promise((resolve, reject) => {
      const video = document.querySelector('video');
      video.onerror = () => reject(new Error(video.error.message));
      video.onended = () => resolve({ width: video.videoWidth, height: video.videoHeight, seconds: video.currentTime });
      video.src = '/video.mp4';
      video.playbackRate = 8;
      video.play();
    })\`)`,
    );
    t.match(seen, { status: 200, body: { width: 1280, height: Number, seconds: Number } });
    t.ok(seen.body.seconds > 0.5, `it plays to its end at ${seen.body.seconds} s`);
  },
);

t.test(
  '"video" of troupe.json makes one of every session that does not say otherwise, with a warm browser too',
  { skip: skipWithoutDocker },
  async (t) => {
    const service = await startTestService(t, { driver: 'docker', maxSessions: 3, warmSessions: 1, video: 'on' });
    const [filmed, other] = await Promise.all([service.live(), service.live({ video: 'off' })]);
    const size = ({ id }: { readonly id: string }) =>
      statSync(join(service.home, 'sessions', id, 'video.mp4'), { throwIfNoEntry: false })?.size;
    await service.run(filmed.id, `agent.go(${JSON.stringify(PAGE)})`);
    await eventually('it is being made', () => (size(filmed) ?? 0) > 5_000);
    t.equal(size(other), undefined);
  },
);

t.test('a session that ends at once has a video of what it showed', { skip: skipWithoutDocker }, async (t) => {
  const service = await startTestService(t, { driver: 'docker', maxSessions: 1 });
  for (const _ of [1, 2, 3]) {
    const { id } = await service.live({ video: 'on' });
    await service.call('DELETE', `/api/sessions/${id}`);
    await service.seen(id, 'SessionEnded');
    const film = (await readZip(`${service.url}/api/sessions/${id}/download`)).get('video.mp4');
    t.ok(film?.includes('moof'), 'with a frame in it');
  }
});
