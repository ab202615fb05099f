import t from 'tap';
import { makeLog } from '#troupe/telemetry/log.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

function collect() {
  const lines: string[] = [];
  return { lines, target: { write: (text: string) => void lines.push(text) } };
}

t.test('Lines for people begin with the timestamp and name the session', async (t) => {
  const { lines, target } = collect();
  const log = makeLog('text', target);
  log('its browser is gone', { session: 'k3v9x0a1b2c3' });
  log('removed 2 browsers');
  t.match(lines[0], /^\d{4}-\d\d-\d\dT[\d:.]+Z session k3v9x0a1b2c3: its browser is gone\n$/);
  t.match(lines[1], /^\S+Z removed 2 browsers\n$/);
});

t.test('Lines for collectors are one JSON object each, whatever they contain', async (t) => {
  const { lines, target } = collect();
  const log = makeLog('json', target);
  log('a "quoted"\nline', { session: 'k3v9x0a1b2c3', audit: true, who: 'ci' });
  t.equal(lines.length, 1);
  t.match(lines[0], /\}\n$/);
  t.match(JSON.parse(lines[0] ?? ''), {
    level: 'info',
    time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    msg: 'a "quoted"\nline',
    session: 'k3v9x0a1b2c3',
    audit: true,
    who: 'ci',
  });
});
