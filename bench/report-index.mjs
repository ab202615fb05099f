// Open the index.html over a run of 200 flows from a file, every one failed and with all that a failure can say: how soon is
// the last flow on screen, and how large is the file?
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderIndexHtml } from '#troupe/report/suite/index-html.js';
import { percentiles } from './support/percentiles.mjs';
import { openPlaywrightPage } from './support/playwright-page.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';

const FLOWS = 200;

export async function run({ rounds = 15 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  // The browser may run as another user.
  chmodSync(folder, 0o755);
  const file = join(folder, 'index.html');
  const html = [...renderIndexHtml(suite(), (path) => path)].join('');
  writeFileSync(file, html);
  const { page, close } = await openPlaywrightPage();
  const opened = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      await page.goto('about:blank');
      const startedAt = performance.now();
      await page.goto(pathToFileURL(file).href);
      await page.getByText(`flow-${FLOWS - 1}`, { exact: true }).waitFor();
      opened.push(performance.now() - startedAt);
    }
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
  printHeader();
  printSamples('open, until the last flow is there', opened, 'ms');
  return [
    atMost('report-index: s until 200 failed flows are on screen, p95', percentiles(opened).p95 / 1000, 1),
    atMost('report-index: MB of the file, without pictures', Buffer.byteLength(html) / 1e6, 5),
  ];
}

function nameOf(index) {
  return `area-${index % 9}/flow-${String(index).padStart(3, '0')}`;
}

function suite() {
  const at = '2026-01-02T03:04:05.000Z';
  return {
    name: 'nightly',
    version: '0.0.0',
    startedAt: at,
    endedAt: at,
    labels: { branch: 'main' },
    build: null,
    flows: Array.from({ length: FLOWS }, (_, index) => flow(index, at)),
  };
}

function flow(index, at) {
  const name = nameOf(index);
  return {
    name,
    file: `flows/${name}.js`,
    tags: ['@smoke'],
    outcome: 'failed',
    failure: failure(name),
    earlier: [],
    quarantine: null,
    startedAt: at,
    durationMs: 4_000,
    sessionId: null,
    report: `${name}/report.html`,
    picture: `${name}/screenshots/003.png`,
    history: { isNew: true, commit: 'a'.repeat(40) },
    again: `troupe run flows/${name}.js`,
  };
}

function failure(flow) {
  const url = 'http://127.0.0.1:4500/checkout/payment?order=12345';
  const text = 'The total of the order is wrong, and the button stays disabled. '.repeat(6);
  return {
    code: 'MATCH_FAILED',
    message: `#state should have the text "Saved", but it has ${JSON.stringify(text)} (waited 5000 ms)`,
    flow,
    file: `flows/${flow}.js`,
    line: 6,
    column: 26,
    frame: "> 6 |   agent.expect('#state').toHaveText('Saved');\n    |                          ^",
    url,
    title: 'Payment',
    locator: '#state',
    expected: 'Saved',
    received: text,
    history: Array.from({ length: 10 }, (_, n) => ({ value: `${n} ${text.slice(0, 190)}`, fromMs: n * 500 })),
    waitedMs: 5_000,
    elsewhere: false,
    nearMisses: Array.from({ length: 10 }, (_, n) => `{button:${n + 1}}Save the order`),
    console: Array.from({ length: 5 }, () => ({ text: `TypeError: ${text}`, url, step: 2 })),
    requests: Array.from({ length: 5 }, () => ({ method: 'POST', url, status: 500, step: 2, body: text })),
    pending: {
      requests: Array.from({ length: 5 }, () => ({ method: 'GET', url, ms: 3_000 })),
      timers: Array.from({ length: 5 }, (_, n) => ({ ms: n * 1_000, repeats: n === 0 })),
    },
    earlierSteps: Array.from({ length: 5 }, (_, n) => ({
      index: n + 1,
      js: `agent.act("{button}Step ${n}", "click")`,
      outcome: text.slice(0, 200),
    })),
    step: { index: 6, js: 'agent.expect("#state").toHaveText("Saved")', url, title: 'Payment' },
    screenshot: 'screenshots/003.png',
    noTrace: 'not recorded',
  };
}
