import { connect } from 'node:net';
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ requests, durationMs, least }) => {
  const samples = [];
  const startedAt = performance.now();
  const goesOn = (nowMs) => nowMs < startedAt + durationMs || samples.length < least;
  Promise.all(requests.map((request) => client(request, goesOn, samples))).then(
    () => {
      const perSecond = samples.length / ((performance.now() - startedAt) / 1000);
      parentPort.postMessage({ samples: Float64Array.from(samples), perSecond });
    },
    (error) => parentPort.postMessage({ error: String(error) }),
  );
});

function client({ port, path, body }, goesOn, samples) {
  const rest = `${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
  const type = 'Content-Type: application/json\r\n';
  const bytes =
    body === undefined
      ? `GET ${rest}\r\n`
      : `POST ${rest}${type}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let seen = '';
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(bytes);
    };
    socket.setEncoding('latin1');
    socket.once('connect', send);
    socket.once('error', reject);
    socket.on('data', (text) => {
      seen += text;
      const end = seen.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(seen)?.[1]);
      if (seen.length < end + 4 + length) return;
      if (!seen.startsWith('HTTP/1.1 200')) {
        socket.destroy();
        reject(new Error(`Answered ${seen.slice(0, 500)}`));
        return;
      }
      const now = performance.now();
      samples.push(now - sentAt);
      seen = '';
      if (goesOn(now)) send();
      else socket.destroy();
    });
    socket.once('close', resolve);
  });
}
