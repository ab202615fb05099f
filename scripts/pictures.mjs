/*
 * `npm run pictures`: makes the pictures of README.md and docs/ anew, from the example shop and a run that fails on it.
 * With `-- --compare FOLDER` it writes none: it makes them in that folder and says how they differ from those of the
 * documentation. Their words are compared always; their pixels where browser and fonts are those they were made with.
 */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { startShop } from '../examples/shop/shop.mjs';
import { prepare } from './prepare.mjs';
import { differencesOf } from './support/compare-pictures.mjs';

const { compare } = parseArgs({ options: { compare: { type: 'string' } } }).values;
const PICTURES = 'docs/images';
const folder = compare === undefined ? PICTURES : resolve(compare);

await prepare();
const { readConfig } = await import('../dist/config.js');
const { startService } = await import('../dist/service.js');
const { findChromium } = await import('../dist/containers/chromium/chromium-binary.js');
const { chromium } = await import('playwright-core');

/** The run of the README: all pass but the purchase, which a new cookie notice of the shop stops. */
const BUY = `// Buys a blue teapot in the example shop.
({ base, layout = 'notice' }) => {
  Flow.run('./login', { base, layout });
  agent.go(\`\${base}/products/blue-teapot\`);
  agent.act('{button}Add to cart', 'click');
  match(agent.text('#total'), '€34.90');
};
`;
/** One at a time, so that they end in the same order each time. */
const HIDDEN = '--parallel 1 --name Nightly';
const COLUMNS = 76;
const ESCAPE = '␛';

/** What is to be ended, the last first, however this ends. */
const started = [];
/** Of each picture, by its name: the lines of text on it. */
const made = {};
try {
  await mkdir(folder, { recursive: true });
  const shop = await startShop({ port: 0 });
  started.push(() => shop.close());
  const shown = await startShown();
  const camera = await openCamera();
  await useTheShop(shop, shown);
  const run = await runOnTerminal(shop, shown, camera);
  await pictureDashboard(shown, run, camera);
  await pictureRequestClient(shown, camera);
  const record = { madeWith: await camera.nature(), pictures: made };
  if (compare === undefined) {
    await writeFile(join(PICTURES, 'pictures.json'), `${JSON.stringify(record, null, 2)}\n`);
  } else {
    const known = JSON.parse(await readFile(join(PICTURES, 'pictures.json'), 'utf8'));
    const { differences, pixels } = await differencesOf(PICTURES, known, folder, record);
    console.log(pixels ? 'Words and pixels are compared' : 'Words alone are compared: browser or fonts are others');
    for (const difference of differences) console.log(difference);
    if (differences.length > 0) {
      console.log(`If this is as it should be, look at ${folder} and run: npm run pictures`);
      process.exitCode = 1;
    }
  }
} finally {
  for (const end of started.reverse()) await end();
}

/** A service in a home of its own, with the flows of the README's run. */
async function startShown() {
  const home = await mkdtemp(join(tmpdir(), 'troupe-'));
  started.push(() => rm(home, { recursive: true, force: true }));
  await cp('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
  const project = join(home, 'project');
  for (const flow of ['login', 'search', 'checkout-validation'])
    await cp(`examples/flows/${flow}.js`, join(project, 'flows', `${flow}.js`));
  await writeFile(join(project, 'flows', 'buy.js'), BUY);
  const config = readConfig({ port: '0', driver: 'process' }, { ...process.env, TROUPE_HOME: home });
  const service = await startService(config, { version: '0.0.0', log: console.error });
  started.push(() => service.stop({ drainMs: 0 }));
  const post = async (path, body) => {
    const response = await fetch(service.url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const get = async (path) => (await fetch(service.url + path)).json();
  return { home, project, cacheDir: config.cacheDir, url: service.url, post, get };
}

/** Leaves ended jobs, and running sessions for the list and the wall. */
async function useTheShop(shop, shown) {
  const run = (name, labels, flowFiles, args = {}) =>
    shown.post('/api/sessions/run', {
      prompt: 'Buy two blue teapots and check the order',
      name,
      labels,
      flowFiles,
      maxIterations: 0,
      args: { base: shop.url, ...args },
    });
  const nightly = { suite: 'nightly' };
  await run('Nightly: search', nightly, ['examples/search.js']);
  await run('Nightly: checkout validation', nightly, ['examples/checkout-validation.js']);
  await run('Release 4.2: buy a teapot', { suite: 'release' }, ['examples/login.js', 'examples/buy.js']);
  await run('Nightly: buy a teapot', nightly, ['examples/login.js', 'examples/buy.js'], { layout: 'split' });
  for (const [name, path] of [
    ['Exploring: the catalogue', ''],
    ['Exploring: a product', 'products/blue-teapot'],
    ['A login, by hand', 'login'],
    ['Looking for a lamp', 'search?q=lamp'],
  ]) {
    const { id } = await shown.post('/api/sessions', { name });
    await shown.post(`/sessions/${id}/proxy`, { js: `agent.go('${shop.url}/${path}'); agent.look().elements.length` });
  }
}

/** `troupe run flows` as a user types it, drawn as the terminal has it. */
async function runOnTerminal(shop, shown, camera) {
  const bin = join(shown.home, 'bin');
  await mkdir(bin);
  await symlink(fileURLToPath(new URL('../dist/cli.js', import.meta.url)), join(bin, 'troupe'));
  const typed = 'troupe run flows';
  // Util-linux's script makes the terminal. It ends as the command does, which is to fail.
  const child = spawn(
    'script',
    ['-qec', `stty cols ${COLUMNS}; ${typed} ${HIDDEN} --args base=${shop.url}`, '/dev/null'],
    {
      cwd: shown.project,
      env: {
        ...process.env,
        PATH: `${bin}:${process.env.PATH}`,
        TROUPE_URL: shown.url,
        TROUPE_HOME: shown.home,
        TERM: 'xterm',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) output += chunk.replaceAll('\u001b', ESCAPE);
  const file = join(shown.home, 'terminal.html');
  await writeFile(file, terminalPage(`$ ${typed}\n${output.slice(output.search(/␛\[3[12]m/))}`));
  await camera.take('terminal', pathToFileURL(file).href, { width: 660, height: 400, scale: 2, element: 'pre' });
  const { batches } = await shown.get('/api/batches');
  return batches[0].id;
}

/** What stays on the screen: progress that was written over is gone, and colours are two. */
function terminalPage(output) {
  const lines = output
    .replaceAll(/ --args base=\S+| --name Nightly| --parallel 1/g, '')
    .split(/\r?\n/)
    .map((line) => line.slice(line.lastIndexOf('\r') + 1).replaceAll(`${ESCAPE}[K`, ''))
    .filter((line) => !/^ *Waited: /.test(line));
  const text = lines.join('\n').trimEnd().replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const coloured = text.replaceAll(/␛\[3([12])m([^␛]*)␛\[0m/g, (_, colour, words) => {
    return `<b class="c${colour}">${words}</b>`;
  });
  return `<!doctype html><meta charset="utf-8"><title>Terminal</title><style>
    pre { width: ${COLUMNS}ch; margin: 0; padding: 1em 1.2em; background: #14171f; color: #d7dbe4; white-space: pre-wrap;
      overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
    b { font-weight: 400 } .c1 { color: #ff7b72 } .c2 { color: #5fd38a }
  </style><pre>${coloured}</pre>`;
}

async function pictureDashboard(shown, run, camera) {
  const [{ id: failed }] = await shown.get(`/api/sessions?batch=${run}&state=failed`);
  const page = { width: 1280, height: 800 };
  await camera.take('failure', `${shown.url}/#/sessions/${failed}`, {
    width: 760,
    height: 900,
    scale: 2,
    element: '.card',
  });
  await camera.take('runs', `${shown.url}/#/`, page);
  await camera.take('sessions', `${shown.url}/#/sessions`, page);
  await camera.take('session', `${shown.url}/#/sessions/${failed}`, page);
  await camera.take('wall', `${shown.url}/#/wall`, page);
  await camera.take('report', `${shown.url}/api/sessions/${failed}/report`, page);
}

/** The request client, on the API of the service. */
async function pictureRequestClient(shown, camera) {
  const { WindowServer } = await import('../dist/request-client/window/window-server.js');
  const { Workspace } = await import('../dist/request-client/window/workspace.js');
  const requestOf = (name, method, path, more = {}) => ({
    name,
    request: { method, header: [], url: { raw: `{{base}}${path}` }, ...more },
    response: [],
  });
  const tests = [
    "pm.test('is answered', () => pm.response.to.have.status(200));",
    "pm.test('has sessions', () => match(response.body, '#[_ > 0]'));",
  ];
  const collection = {
    info: { name: 'Troupe', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    variable: [{ key: 'base', value: shown.url, type: 'string' }],
    item: [
      {
        name: 'Sessions',
        item: [
          {
            ...requestOf('List', 'GET', '/api/sessions?limit=2'),
            event: [{ listen: 'test', script: { type: 'text/javascript', exec: tests } }],
          },
          requestOf('Create', 'POST', '/api/sessions', { body: { mode: 'raw', raw: '{"name": "by hand"}' } }),
          requestOf('Delete', 'DELETE', '/api/sessions/{{id}}'),
        ],
      },
      {
        name: 'Jobs',
        item: [requestOf('Submit', 'POST', '/api/jobs'), requestOf('Report', 'GET', '/api/jobs/{{id}}/download')],
      },
    ],
  };
  const file = join(shown.home, 'shop.json');
  await writeFile(file, JSON.stringify(collection));
  const workspace = new Workspace({ openBrowser: async () => undefined });
  started.push(() => workspace.close());
  await workspace.open(file);
  const window = await WindowServer.start({ workspace, folder: shown.home, port: 0 });
  started.push(() => window.close());
  await camera.take('request-client', window.url, {
    width: 1280,
    height: 800,
    use: async (page) => {
      await page.getByRole('treeitem', { name: /List/ }).click();
      await page.getByRole('tab', { name: /^After/ }).click();
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByRole('tab', { name: /^Tests/ }).click();
    },
  });
}

/** A browser that is not in the pictures. */
async function openCamera() {
  const { path, env, product } = await findChromium({
    configured: process.env.TROUPE_CHROMIUM,
    cacheDir: join(tmpdir(), 'troupe-pictures'),
  });
  const browser = await chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    chromiumSandbox: false,
    args: ['--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  started.push(() => browser.close());
  /** @param options.use what is done before the picture; `element`: only that one is pictured */
  const take = async (name, url, { width, height, scale = 1, element, use }) => {
    const context = await browser.newContext({
      viewport: { width, height },
      deviceScaleFactor: scale,
      colorScheme: 'light',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.goto(url);
    await use?.(page);
    await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
    await setTimeout(1000);
    const words = await page.evaluate(steady, element ?? 'body');
    const target = element === undefined ? page : page.locator(element).first();
    await target.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
    const lines = words.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());
    made[name] = lines.filter((line) => line !== '');
    await context.close();
    console.log(join(folder, `${name}.png`));
  };
  const nature = async () => {
    const page = await browser.newPage();
    const fonts = await page.evaluate(() => {
      const pen = document.createElement('canvas').getContext('2d');
      return ['16px system-ui, sans-serif', '16px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace'].map(
        (font) => {
          pen.font = font;
          return pen.measureText('Why did the run fail? 0123456789').width;
        },
      );
    });
    return { browser: product.replace(/\.\d+\.\d+$/, ''), fonts: fonts.map((width) => width.toFixed(2)).join(', ') };
  };
  return { take, nature };
}

/** Runs in the page: what differs from one making to the next becomes the same. Returns the words in `element`. */
function steady(element) {
  const rules = [
    [/127\.0\.0\.1:\d+/g, () => '127.0.0.1:4500'],
    [/\b(?=[a-z]*\d)[a-z0-9]{12}\b|(?<=session[s ]\/?)[a-z]{12}\b/g, () => '4jq8h2x0v7ma'],
    [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, () => '2026-11-30 09:41:07'],
    [/\b\d?\d:\d\d:\d\d [AP]M\b/g, () => '9:41:07 AM'],
    [/(Chromium \d+)(\.\d+)+/g, (_, major) => `${major}.0`],
    [/ *\b\d+(\.\d+)? (ms|s|min|kB|B)\b/g, steadyQuantity],
  ];
  function steadyQuantity(text, _fraction, unit) {
    const instead = `${text.startsWith(' ') ? ' ' : ''}1.2 ${{ ms: 's', min: 's', B: 'kB' }[unit] ?? unit}`;
    // Columns are wide; a time in a sentence follows one space, however long it is.
    return text.startsWith('  ') ? instead.padStart(text.length) : instead;
  }
  // On a busy machine a run waits for its browser.
  for (const one of document.querySelectorAll('dl.facts > div, .facts > span')) {
    if (/^Waited|in the queue$/.test(one.textContent)) one.remove();
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
    let text = node.data;
    for (const [pattern, instead] of rules) text = text.replaceAll(pattern, instead);
    // An id without a digit looks like a word.
    if (node.parentElement?.localName === 'code' && /^[a-z]{12}$/.test(text)) text = '4jq8h2x0v7ma';
    if (text !== node.data) node.data = text;
  }
  // biome-ignore lint/performance/useDomNodeTextContent: what is hidden is not on the picture
  return document.querySelector(element).innerText;
}
