import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type AgentFixture, openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { numberedPage, numberOn } from '../support/numbered-page.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
site.set('/numbered', (request, response) => {
  const number = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('n'));
  response.writeHead(200, { 'content-type': 'text/html' }).end(numberedPage(number, '/numbered'));
});

/** 22 steps, each of which raises the number by one; the first shows 1. */
async function runFlow({ call }: AgentFixture): Promise<void> {
  await call('go', `${site.origin}/numbered?n=1`);
  for (let round = 0; round < 4; round += 1) {
    await call('act', '{button}More', 'click');
    await call('act', '{input}Text', 'input', 'a');
    await call('act', '{input}Check', 'check');
    await call('act', '{select}Choice', 'select', 'b');
    await call('act', '{a}Link', 'click');
  }
  await call('act', '{button}More', 'click');
}

/** What each step's picture shows; null where it has none. */
function shown({ told, screenshotsDir }: AgentFixture): (number | null)[] {
  return told('StepFinished').map(({ screenshot }) =>
    screenshot === null ? null : numberOn(readFileSync(join(screenshotsDir, screenshot))),
  );
}

const FLOWS = Array.from({ length: 200 }, (_, index) => index);
const STEPS = Array.from({ length: 22 }, (_, index) => index + 1);

t.test('Each of 22 fast steps has the picture of what it led to', async (t) => {
  let lost = 0;
  let wrong = 0;
  const flows = sampled(FLOWS, { proof: 'pictures', name: 'idle', count: 2 });
  for (const flow of flows) {
    const fixture = await openAgent(t, lease, { policy: 'every' });
    await runFlow(fixture);
    await fixture.agent.dispose();
    fixture.browser.close();
    const numbers = shown(fixture);
    wrong += numbers.filter((number, index) => number !== null && number !== index + 1).length;
    lost += numbers.filter((number) => number === null).length;
    if (numbers.some((number, index) => number !== index + 1)) t.comment(`flow ${flow}: ${numbers.join(' ')}`);
    t.equal(numbers.length, STEPS.length);
  }
  t.equal(wrong, 0, 'no picture shows another step');
  t.equal(lost, 0, 'every step has one');
});

t.end();
