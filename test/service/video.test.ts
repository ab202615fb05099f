import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { killBrowser, runningBrowsers } from '../support/browsers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { numberedPage } from '../support/numbered-page.js';
import { startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

const site = await openSite(t);
const base = site.set('/numbered', (request, response) => {
  const number = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('n'));
  response.writeHead(200, { 'content-type': 'text/html' }).end(numberedPage(number, '/numbered'));
});
const service = await startTestService(t, { driver: 'process', maxSessions: 4 });
const pathOf = (id: string) => join(service.home, 'sessions', id, 'video.mp4');

/** Plays a video to its end and reads the number of each of its frames, and the color of the corner with the marks. */
const PLAYER = `<!doctype html><video muted preload=auto></video><script>
const video = document.querySelector('video');
const canvas = new OffscreenCanvas(1280, 720);
const context = canvas.getContext('2d', { willReadFrequently: true });
const at = (x, y) => [...context.getImageData(x, y, 1, 1).data];
function read() {
  context.drawImage(video, 0, 0);
  let number = 0;
  for (let bit = 0; bit < 8; bit += 1) if (at(36 + 48 * bit, 36)[1] < 128) number |= 1 << bit;
  return { number, isReadable: at(36, 36)[2] < 90, corner: [at(3, 3), at(12, 3)] };
}
async function play(src, lastSeconds) {
  await new Promise((resolve, reject) => {
    video.onerror = () => reject(new Error(video.error.message));
    video.onloadeddata = resolve;
    video.src = src;
  });
  const frames = [];
  for (let time = Math.max(0, video.duration - lastSeconds); time < video.duration; time += 0.1) {
    await new Promise((resolve) => { video.onseeked = resolve; video.currentTime = time; });
    frames.push(read());
  }
  return { width: video.videoWidth, height: video.videoHeight, seconds: video.duration, frames };
}
</script>`;

interface Played {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly frames: readonly { number: number; isReadable: boolean; corner: readonly (readonly number[])[] }[];
}

let plays = 0;

async function play(content: Buffer, lastSeconds = 60): Promise<Played> {
  // The player's browser caches videos by their URL.
  const path = `/${++plays}.mp4`;
  site.set(path, (request, response) => {
    const [, from = '0', to = ''] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
    const part = content.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${content.length}`;
    response
      .writeHead(206, { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', 'content-range': range })
      .end(part);
  });
  const { body } = await service.run(player.id, `agent.page("play('${path}', ${lastSeconds})")`);
  return body;
}

const player = await service.live();
await service.run(player.id, `agent.go(${JSON.stringify(site.set('/player', PLAYER))})`);

/** The numbers in the order in which they are shown. */
function numbersIn({ frames }: Played): number[] {
  const numbers = frames.filter(({ isReadable }) => isReadable).map(({ number }) => number);
  return numbers.filter((number, index) => number !== numbers[index - 1]);
}

t.test(
  'The video of a job shows its steps in order to the last one, without marks, and is listed in the report',
  async (t) => {
    const flow = `() => {
    agent.go('${base}?n=1');
    for (let step = 2; step <= 8; step += 1) { agent.act('{button}More', 'click'); agent.wait(250); }
  }`;
    writeFileSync(join(service.home, 'flows', 'numbers.js'), flow);
    const { id, state } = await service.job({ flowFiles: ['numbers.js'], video: 'on' });
    t.equal(state, 'completed');
    const zip = await readZip(`${service.url}/api/sessions/${id}/download`);
    const video = zip.get('video.mp4') ?? Buffer.alloc(0);
    const { artifacts } = JSON.parse(String(zip.get('report.json')));
    t.match(
      artifacts.find(({ path }: { path: string }) => path === 'video.mp4'),
      { bytes: video.length },
    );
    const played = await play(video);
    t.match(played, { width: 1280, height: 720 });
    t.ok(played.seconds > 1.7, `${played.seconds} s`);
    const numbers = numbersIn(played);
    t.same(
      numbers,
      [...numbers].sort((a, b) => a - b),
      'no step comes before an earlier one',
    );
    t.equal(numbers.at(-1), 8, 'the last picture is what the last step left');
    const colors = played.frames.filter(({ isReadable }) => isReadable).flatMap(({ corner }) => corner);
    t.ok(
      colors.every((color) => color.every((channel) => channel > 230)),
      'the marks of the steps’ pictures are not in it',
    );
  },
);

t.test(
  'A page that stops after many changes is shown as it is then, while the session runs and after it',
  async (t) => {
    const { id } = await service.live({ video: 'on' });
    await service.run(id, `agent.go('${base}?n=1')`);
    await service.run(
      id,
      `agent.page('new Promise((done) => requestAnimationFrame(function next() { raise(); if (number < 90) requestAnimationFrame(next); else done(); }))')`,
    );
    await eventually('the file on disk shows it while the session runs', async () => {
      if (!existsSync(pathOf(id))) return false;
      return numbersIn(await play(readFileSync(pathOf(id)), 0.2)).at(-1) === 90;
    });
    await service.call('DELETE', `/api/sessions/${id}`);
    await service.seen(id, 'SessionEnded');
    const zip = await readZip(`${service.url}/api/sessions/${id}/download`);
    const played = await play(zip.get('video.mp4') ?? Buffer.alloc(0));
    t.equal(numbersIn(played).at(-1), 90);
  },
);

t.test('A session whose video cannot go on says so and goes on; the video is kept up to there', async (t) => {
  const { id } = await service.live({ video: 'on' });
  await service.run(id, `agent.go('${base}?n=3')`);
  await eventually('it is being recorded', () => existsSync(pathOf(id)));
  for (const browser of runningBrowsers()) if (browser !== id && browser !== player.id) killBrowser(browser);
  await service.seen(id, 'VideoFailed');
  t.match(await service.run(id, 'agent.look().title'), { status: 200, body: 'Number' });
  await service.call('DELETE', `/api/sessions/${id}`);
  const zip = await readZip(`${service.url}/api/sessions/${id}/download`);
  t.match(String(zip.get('transcript.jsonl')), /"VideoFailed"/);
  const { videoFailures } = JSON.parse(String(zip.get('report.json')));
  t.match(videoFailures, [{ at: /Z$/, reason: /./ }], 'the report says so too');
  t.equal(videoFailures.length, 1);
  t.ok(zip.has('video.mp4'));
  const again = await service.live({ video: 'on' });
  await service.run(again.id, `agent.go('${base}?n=3')`);
  await eventually('the next session is recorded', () => existsSync(pathOf(again.id)));
  await service.call('DELETE', `/api/sessions/${again.id}`);
});

t.test('A video is not kept with on-failure when the job completes', async (t) => {
  writeFileSync(join(service.home, 'flows', 'short.js'), `() => agent.go('${base}?n=1')`);
  const { id } = await service.job({ flowFiles: ['short.js'], video: 'on-failure' });
  t.notOk((await readZip(`${service.url}/api/sessions/${id}/download`)).has('video.mp4'));
  t.notOk(existsSync(pathOf(id)));
});

t.end();
