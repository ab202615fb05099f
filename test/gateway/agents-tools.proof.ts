import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { startShop } from '../../examples/shop/shop.mjs';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { type NewestPackage, newestPackage } from '../support/newest-package.js';
import { startTestService, type TestService } from '../support/service.js';

guardLeaks(t);

const TOKEN = 'a-token-of-agents-tools';
const COMMAND_MS = 120_000;
const Content = z.object({ content: z.array(z.object({ text: z.string() })), isError: z.literal(false).optional() });
const Manifest = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]) });

process.env.AGENTS_TOOLS_TOKEN = TOKEN;
t.teardown(() => delete process.env.AGENTS_TOOLS_TOKEN);
const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const forward = [Number(new URL(shop.url).port)];
const open = await startTestService(t, { maxSessions: 2, forward });
const guarded = await startTestService(t, { maxSessions: 2, forward, token: 'AGENTS_TOOLS_TOKEN' });

/** A row of the page's table: what it says is what runs. */
interface Row {
  readonly tool: string;
  readonly plain: string;
  readonly withToken: string;
}

const ROWS: readonly Row[] = readFileSync('docs/moving.md', 'utf8')
  .split('\n## ')
  .filter((section) => section.startsWith("Agents' tools"))
  .flatMap((section) => section.split('\n'))
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => {
    const [, tool = '', plain = '', withToken = ''] = line.split('|').map((cell) => cell.trim());
    const code = (cell: string) => /`([^`]+)`/.exec(cell)?.[1] ?? '';
    return { tool, plain: code(plain), withToken: code(withToken) };
  });

t.equal(ROWS.length, 5, 'every row of the table is read');
for (const { tool, plain, withToken } of ROWS) {
  t.test(`${tool} uses a session of its own, by what the docs say`, async (t) => {
    const isStagehand = plain.startsWith('new Stagehand(');
    const [name, tag] = isStagehand ? ['@browserbasehq/stagehand', '3'] : packageOf(plain);
    const newest = await newestPackage(name, tag);
    if ('why' in newest) {
      t.pass('the tool can be installed', { skip: newest.why });
      return;
    }
    t.comment(`version ${newest.version}`);
    const use = isStagehand ? useStagehand : name === 'agent-browser' ? useAgentBrowser : useMcp;
    await runsAt(t, open, (service, at) => use(t, newest, at(plain), service));
    if (withToken === '') return;
    const both = isStagehand ? plain.replace('cdpUrl:', `${withToken}, cdpUrl:`) : `${plain} ${withToken}`;
    await runsAt(t, guarded, (service, at) => use(t, newest, at(both), service));
  });
}

async function runsAt(
  t: Test,
  service: TestService,
  use: (service: TestService, at: (written: string) => string) => Promise<void>,
): Promise<void> {
  const before = (await sessionsOf(service)).length;
  const host = service.url.replace('http://', '');
  await use(service, (written) => written.replaceAll('127.0.0.1:4444', host).replaceAll('TOKEN', TOKEN));
  await eventually('the session ends with the connection', async () => (await running(service)) === 0);
  t.equal((await sessionsOf(service)).length, before + 1, 'it was one session');
}

const asOwner = { headers: { authorization: `Bearer ${TOKEN}` } };

async function sessionsOf(service: TestService, query = ''): Promise<readonly unknown[]> {
  return z.array(z.unknown()).parse((await service.call('GET', `/api/sessions${query}`, undefined, asOwner)).body);
}

const running = async (service: TestService): Promise<number> => (await sessionsOf(service, '?state=running')).length;

/** Words as a shell reads them; the docs need single quotes and no more. */
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}

/** Name and tag of the package in `npx NAME@TAG ...`. */
function packageOf(command: string): readonly [string, string] {
  const [, name = '', tag = ''] = /^npx (@?[^@ ]+)@(\S+) /.exec(command) ?? [];
  return [name, tag];
}

/** The script that `npx` would run, and the words after it. */
function programOf(tool: NewestPackage, command: string): readonly [string, ...(readonly string[])] {
  const [, , ...words] = wordsOf(command);
  const [name] = packageOf(command);
  const { bin } = Manifest.parse(JSON.parse(readFileSync(tool.file(name, 'package.json'), 'utf8')));
  const path = typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? '');
  return [tool.file(name, path), ...words];
}

/** A home and a working folder of its own, and nothing that calls home. */
function environment(t: Test): { readonly cwd: string; readonly env: { [name: string]: string } } {
  const cwd = mkdtempSync(join(tmpdir(), 'tool-'));
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
  const quiet = { CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS: '1', CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: '1' };
  const none = { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1', PUPPETEER_SKIP_DOWNLOAD: '1' };
  return { cwd, env: { PATH: process.env.PATH ?? '', HOME: cwd, TMPDIR: cwd, ...quiet, ...none } };
}

/** Playwright MCP and Chrome DevTools MCP: the same use, with tools of other names. */
async function useMcp(t: Test, tool: NewestPackage, written: string, service: TestService): Promise<void> {
  const client = new Client({ name: 'a test', version: '1' });
  const args = [...programOf(tool, written)];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore', ...environment(t) }),
  );
  const call = async (name: string, given: { readonly [name: string]: unknown }): Promise<string> => {
    const answer = await client.callTool({ name, arguments: given }, undefined, { timeout: COMMAND_MS });
    return Content.parse(answer)
      .content.map(({ text }) => text)
      .join('\n');
  };
  const names = (await client.listTools()).tools.map(({ name }) => name);
  t.equal(await running(service), 0, 'no browser is started before a tool is called');
  if (names.includes('browser_navigate')) {
    await call('browser_navigate', { url: shop.url });
    const [, target] = /link "Cart" \[ref=(\w+)\]/.exec(await call('browser_snapshot', {})) ?? [];
    await call('browser_click', { element: 'Cart', target });
    t.match(await call('browser_snapshot', {}), `Page URL: ${shop.url}/cart`);
  } else {
    const [, id] = /^(\d+): about:blank/m.exec(await call('list_pages', {})) ?? [];
    const pageId = Number(id);
    await call('navigate_page', { pageId, type: 'url', url: shop.url });
    const [, uid] = /uid=(\w+) link "Cart"/.exec(await call('take_snapshot', { pageId })) ?? [];
    await call('click', { pageId, uid });
    t.match(await call('list_pages', {}), `${shop.url}/cart`);
  }
  t.equal(await running(service), 1);
  await client.close();
}

async function useAgentBrowser(t: Test, tool: NewestPackage, written: string, service: TestService): Promise<void> {
  const place = environment(t);
  const ask = async (...words: readonly string[]): Promise<string> =>
    (
      await promisify(execFile)(process.execPath, [...programOf(tool, written), ...words], {
        timeout: COMMAND_MS,
        ...place,
      })
    ).stdout;
  try {
    await ask('open', shop.url);
    const [, ref] = /link "Cart" \[ref=(\w+)\]/.exec(await ask('snapshot', '-i')) ?? [];
    await ask('click', `@${ref}`);
    t.match(await ask('get', 'url'), `${shop.url}/cart`);
    t.equal(await running(service), 1, 'the commands share one connection');
  } finally {
    await ask('close');
  }
}

/** Without a model: what it does to a page by itself. */
async function useStagehand(t: Test, tool: NewestPackage, written: string, service: TestService): Promise<void> {
  const script = `
    const { Stagehand } = await import(process.argv[1]);
    const stagehand = ${written.replace("env: 'LOCAL'", "env: 'LOCAL', verbose: 0, disablePino: true")};
    await stagehand.init();
    const page = stagehand.context.pages()[0];
    await page.goto(process.argv[2]);
    await page.locator('nav a[href="/cart"]').click();
    await page.waitForSelector('main');
    const asked = await fetch(process.argv[3], { headers: { authorization: process.argv[4] } });
    console.log(JSON.stringify({ url: page.url(), running: (await asked.json()).length }));
    await stagehand.close();
  `;
  const entry = tool.file('@browserbasehq', 'stagehand', 'dist', 'esm', 'index.js');
  const given = [entry, shop.url, `${service.url}/api/sessions?state=running`, `Bearer ${TOKEN}`];
  const args = ['--input-type=module', '--eval', script, '--', ...given];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: COMMAND_MS, ...environment(t) });
  t.same(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), { url: `${shop.url}/cart`, running: 1 });
}
