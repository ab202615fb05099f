import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { z } from 'zod';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import type { AgentFixture } from './agent-fixture.js';
import { openSite } from './agent-fixture.js';
import { decodePng } from './numbered-page.js';

const FOLDER = join(import.meta.dirname, '../pages/tasks');
const SOLUTIONS = join(FOLDER, 'solutions');
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css',
  js: 'text/javascript',
};
/** Pages that a task leads to. */
const LINKED = ['word.html'];
const Picture = z.object({ file: z.string() });

/** What a solution may use: what a look lists, what a person reads, and pictures. */
export interface TaskAgent {
  look(): Promise<readonly ElementDescriptor[]>;
  /** Refuses CSS and XPath: a solution knows only what it was shown. */
  act(locator: string, action: string, value?: unknown): Promise<unknown>;
  text(locator?: string): Promise<string>;
  wait(condition: string): Promise<unknown>;
  tab(index: number): Promise<unknown>;
  /** Puts a file beside the flows, as `File.write` does. */
  write(name: string, text: string): Promise<void>;
  /** The middles of the areas of a color in the picture of an element, from the left to the right, in pixels. */
  spots(locator: string, color: readonly number[]): Promise<(readonly [number, number])[]>;
}

type Solution = (agent: TaskAgent, sentence: string) => Promise<unknown>;
const Solutions = z.record(
  z.string(),
  z.record(
    z.string(),
    z.custom<Solution>((value) => typeof value === 'function'),
  ),
);

export interface TaskPage {
  readonly name: string;
  readonly solve: Solution;
  /** The page with its variation. */
  url(seed: number): string;
}

/** Every task of `test/pages/tasks`, served, with its solution. */
export async function openTasks(t: Test): Promise<readonly TaskPage[]> {
  const site = await openSite(t);
  for (const file of readdirSync(FOLDER)) {
    const type = TYPES[file.split('.').at(-1) ?? ''];
    if (type === undefined) continue;
    const body = readFileSync(join(FOLDER, file));
    site.set(`/${file}`, (_, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    });
  }
  const solutions = new Map<string, Solution>();
  for (const file of readdirSync(SOLUTIONS).sort()) {
    const groups = Solutions.parse({ ...(await import(pathToFileURL(join(SOLUTIONS, file)).href)) });
    for (const [name, solve] of Object.values(groups).flatMap((group) => Object.entries(group)))
      solutions.set(name, solve);
  }
  const pages = readdirSync(FOLDER).filter((file) => file.endsWith('.html') && !LINKED.includes(file));
  return pages.map((file) => {
    const name = basename(file, '.html');
    const solve = solutions.get(name);
    if (solve === undefined) throw new Error(`The task ${name} has no solution in test/pages/tasks/solutions`);
    return { name, solve, url: (seed) => `${site.origin}/${file}?seed=${seed}` };
  });
}

/** Does a task as its solution does it; what its page says then: 'done', or what is wrong. */
export async function solveTask(
  { call, look, screenshotsDir }: AgentFixture,
  flowsDir: string,
  task: TaskPage,
  seed: number,
): Promise<string> {
  const verdict = async (): Promise<string> => String(await call('page', 'verdict()'));
  await call('go', task.url(seed));
  const sentence = String(await call('text', '#task'));
  const before = await verdict();
  if (before === 'done') return 'it is done before it has begun';
  await task.solve(
    {
      look: async () => (await look()).elements,
      act: async (locator, action, value) => {
        if (!locator.startsWith('{')) throw new Error(`${locator} is not what a look shows`);
        return call('act', locator, action, value);
      },
      text: async (locator) => String(await call('text', locator)),
      wait: (condition) => call('wait', condition),
      tab: (index) => call('tab', index),
      write: async (name, text) => writeFileSync(join(flowsDir, name), text),
      spots: async (locator, color) => {
        const { file } = Picture.parse(await call('screenshot', { within: locator }));
        return spotsOf(decodePng(readFileSync(join(screenshotsDir, file))), color);
      },
    },
    sentence,
  );
  return verdict();
}

/** Pixels that touch one another are one area. Those of a few pixels are the edges of others. */
function spotsOf({ width, height, at }: ReturnType<typeof decodePng>, color: readonly number[]) {
  const open = new Set<number>();
  for (let n = 0; n < width * height; n += 1) {
    if (at(n % width, Math.floor(n / width)).every((part, index) => Math.abs(part - (color[index] ?? 0)) < 12))
      open.add(n);
  }
  const spots: (readonly [number, number])[] = [];
  for (const start of open) {
    const area = [start];
    open.delete(start);
    for (const n of area) {
      for (const next of [n - 1, n + 1, n - width, n + width]) if (open.delete(next)) area.push(next);
    }
    if (area.length < 20) continue;
    const middle = (part: (n: number) => number): number =>
      Math.round(area.reduce((sum, n) => sum + part(n), 0) / area.length);
    spots.push([middle((n) => n % width), middle((n) => Math.floor(n / width))]);
  }
  return spots.sort(([a], [b]) => a - b);
}
