import { type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { openChromiumWithPort } from '../../bench/support/chromium-with-port.mjs';
import { inContainers } from './agent-fixture.js';
import { eventually } from './eventually.js';
import { cacheDir } from './shared-cache.js';

/** Somebody who reads the dashboard in a real browser, and what the browser held against it. */
export interface Reader {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts and of the console, breaches of the policy among them. */
  readonly problems: readonly string[];
  /** The hosts that were asked for something. */
  readonly hosts: ReadonlySet<string>;
  /** Settles when an expression of the page is true; throws after 15 s with what the page shows. */
  holds(expression: string): Promise<void>;
  shows(text: string): Promise<void>;
}

/** On a session's page: its picture, or its desktop where it has one, once something is to be seen. */
export const SEEN = inContainers
  ? 'document.querySelector("[role=application] canvas")?.width > 300'
  : 'document.querySelector("canvas.shown")?.width > 300';

/** Gone when the test is over. */
export async function openReader(t: Test): Promise<Reader> {
  const found = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: cacheDir() });
  const opened = await openChromiumWithPort(found);
  t.teardown(() => opened.close());
  const browser = await chromium.connectOverCDP(opened.cdpUrl);
  t.teardown(() => browser.close());
  const [context] = browser.contexts();
  const page = context?.pages()[0];
  if (context === undefined || page === undefined) throw new Error('The browser has no page');
  await page.setViewportSize({ width: 1280, height: 800 });
  const problems: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => void dialog.accept());
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (/^(http|ws)/.test(protocol)) hosts.add(host);
  });
  const holds = async (expression: string) => {
    // Asked again and again from here: the page's policy lets nothing evaluate text from within.
    const asked = async () => (await page.evaluate(expression)) === true;
    await eventually(expression, asked).catch(async (error: unknown) => {
      throw new Error(`${error}\n${await page.evaluate('document.body.innerText')}`);
    });
  };
  return {
    page,
    context,
    problems,
    hosts,
    holds,
    shows: (text) => holds(`document.body.innerText.includes(${JSON.stringify(text)})`),
  };
}
