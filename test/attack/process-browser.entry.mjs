// Tries, as a normal user, to reach with a browser of the process driver what it must not reach. Arguments: JSON with the
// home to keep closed and the attempts. Writes what each attempt brought as JSON.
import { writeSync } from 'node:fs';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { NetworkGate } from '#troupe/containers/gate/network-gate.js';
import { ProcessDriver } from '#troupe/containers/process/process-driver.js';
import { DevToolsChannel } from '#troupe/session/connection/devtools-channel.js';

const { home, workDir, files, downloads, pages } = JSON.parse(process.argv[2]);
const bounds = { signal: new AbortController().signal, deadlineMs: 30_000 };
const setting = { ownPort: 1, ownNames: [], hostAddress: null, forward: [], egress: {}, loopback: 'open' };
const network = new NetworkGate(setting, () => undefined);
const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: `${workDir}-cache` });
const driver = await ProcessDriver.create({ chromium, network, ownPort: 1, home, workDir, instance: 'attack' });
const lease = await driver.lease({ leaseId: 'attack', viewport: { width: 800, height: 600 } }, bounds);
const channel = await DevToolsChannel.open(lease.devTools(), bounds);
const waiting = new Map();
const seat = await channel.join(
  {
    message(text) {
      const message = JSON.parse(text);
      waiting.get(message.id)?.(message);
    },
    closed: () => undefined,
  },
  bounds,
);
let lastId = 0;
function send(method, params = {}, sessionId = undefined) {
  return new Promise((resolve) => {
    const id = ++lastId;
    waiting.set(id, resolve);
    seat.send(JSON.stringify({ id, method, params, sessionId }), sessionId);
  });
}
const { targetInfos } = (await send('Target.getTargets')).result;
const { targetId } = targetInfos.find(({ type }) => type === 'page');
const { sessionId } = (await send('Target.attachToTarget', { targetId, flatten: true })).result;
const evaluate = async (expression) =>
  (await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, sessionId)).result?.result
    ?.value;

const seen = {};
for (const url of pages) {
  const { result } = await send('Page.navigate', { url }, sessionId);
  seen[url] = result?.errorText ?? (await evaluate('document.documentElement.innerText')) ?? null;
}
await send('Page.enable', {}, sessionId);
await send('Page.navigate', { url: 'data:text/html,<title>ready</title><input type=file>' }, sessionId);
while ((await evaluate('document.readyState + document.title')) !== 'completeready');
for (const path of files) {
  const expression = "document.querySelector('input')";
  const { objectId } = (await send('Runtime.evaluate', { expression }, sessionId)).result.result;
  await send('DOM.setFileInputFiles', { objectId, files: [path] }, sessionId);
  const read =
    "document.querySelector('input').files[0]?.text().then((text) => 'read: ' + text, (error) => error.name)";
  seen[`input ${path}`] = (await evaluate(read)) ?? null;
}
for (const downloadPath of downloads) {
  await send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath, eventsEnabled: true });
  await evaluate(
    "new Promise((done) => { const a = document.createElement('a'); a.href = 'data:application/octet-stream,evil'; a.download = 'evil.js'; a.click(); setTimeout(done, 300); })",
  );
}
writeSync(
  1,
  JSON.stringify({ confinement: driver.confinement, seen, pid: lease.identity.pid, uid: process.geteuid() }),
);
await channel.close();
await lease.release();
