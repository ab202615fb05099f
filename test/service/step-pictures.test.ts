import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ownScreenshot } from '#troupe/protocol/own-screenshot.js';
import { Report } from '#troupe/protocol/report/report.js';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { numberedPage, numberOn } from '../support/numbered-page.js';
import { startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

const FLOW = `({ base }) => {
  agent.go(base + '?n=1');
  for (let round = 0; round < 4; round += 1) {
    agent.act('{button}More', 'click');
    agent.expect('{button}More').toBeVisible();
    agent.act('{input}Text', 'input', 'a');
    agent.act('{input}Check', 'check');
    agent.act('{select}Choice', 'select', 'b');
    agent.act('{a}Link', 'click');
  }
  agent.act('{button}More', 'click');
}`;

t.test('Zip, report.json, report.html, JUnit and the strip of a job show the same picture for each step', async (t) => {
  const site = await openSite(t);
  const base = site.set('/numbered', (request, response) => {
    const number = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('n'));
    response.writeHead(200, { 'content-type': 'text/html' }).end(numberedPage(number, '/numbered'));
  });
  const service = await startTestService(t, { forward: [Number(new URL(base).port)] });
  mkdirSync(join(service.home, 'flows'), { recursive: true });
  writeFileSync(join(service.home, 'flows', 'numbers.js'), FLOW);
  const { id } = await service.job({ flowFiles: ['numbers.js'], args: { base } });
  const zip = await readZip(`${service.url}/api/sessions/${id}/download`);
  const textOf = (name: string): string => zip.get(name)?.toString() ?? '';

  const { steps } = Report.parse(JSON.parse(textOf('report.json')));
  t.equal(steps.length, 26);
  const numbers = steps.map(({ screenshot }) => numberOn(zip.get(`screenshots/${screenshot}`) ?? Buffer.alloc(0)));
  t.same(
    numbers,
    steps.map((_, index) => steps.slice(0, index + 1).filter(({ js }) => !js.startsWith('agent.expect')).length),
    'each step has the picture of what it led to, and one that read that of the step before',
  );
  const pictures = [...zip].filter(([name]) => name.startsWith('screenshots/'));
  const sums = pictures.map(([, content]) => createHash('sha256').update(content).digest('hex'));
  t.equal(new Set(sums).size, pictures.length, 'the zip has no picture twice');
  t.same(
    pictures.map(([name]) => name.slice('screenshots/'.length)).sort(),
    [...new Set(steps.map(({ screenshot }) => screenshot))].sort(),
    'and none that is no step’s',
  );

  const inlined = [...textOf('report.html').matchAll(/src="data:image\/png;base64,([^"]+)"/g)].map(([, data]) =>
    numberOn(Buffer.from(data ?? '', 'base64')),
  );
  t.same(inlined, [...new Set(numbers)], 'report.html has each once');
  const junit = textOf('report.junit.xml');
  const named = [...junit.matchAll(/screenshots\/[\w.-]+\.png/g)].map(([name]) => name);
  const names = new Set(steps.map(({ screenshot }) => `screenshots/${screenshot}`));
  t.same(named, [...names], 'report.junit.xml names each once');
  for (const name of named) t.ok(zip.has(name), name);

  const transcript = textOf('transcript.jsonl').trim().split('\n');
  const strip = transcript.map((line) => JSON.parse(line)).filter(({ type }) => type === 'StepFinished');
  t.same(
    strip.map(({ data }) => ownScreenshot(data)),
    steps.map(({ screenshot }) => screenshot),
  );
  for (const { data } of [strip[6], strip.at(-1)]) {
    const answer = await fetch(`${service.url}/api/sessions/${id}/screenshots/${data.screenshot}`);
    t.equal(numberOn(Buffer.from(await answer.arrayBuffer())), numbers[data.index - 1], 'what the dashboard shows');
  }
});

t.end();
