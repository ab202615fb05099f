import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Test } from 'tap';
import { openSite } from './agent-fixture.js';

const FOLDER = join(import.meta.dirname, '../pages');
const LIST = /<!-- A person can use:\n([\s\S]*?)\n-->/;

/** A page and what a person can do on it, written down from what the page is for. */
export interface CorpusPage {
  readonly name: string;
  readonly url: string;
  /** Locators; `{*}Name` where the page's author, not the person, decides what the thing is made of. */
  readonly expected: readonly string[];
}

/** The pages of `test/pages/`, served; those of component sets with their scripts, bundled as a site's would be. */
export async function openCorpus(t: Test): Promise<readonly CorpusPage[]> {
  const site = await openSite(t);
  const files = readdirSync(FOLDER);
  const outdir = mkdtempSync(join(tmpdir(), 'pages-'));
  t.teardown(() => rmSync(outdir, { recursive: true, force: true }));
  await build({
    entryPoints: files.filter((file) => file.endsWith('.entry.mjs')).map((file) => join(FOLDER, file)),
    entryNames: '[name]',
    outdir,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.svg': 'dataurl', '.png': 'dataurl', '.woff': 'dataurl', '.woff2': 'dataurl' },
    logLevel: 'error',
  });
  for (const file of readdirSync(outdir)) {
    const type = file.endsWith('.css') ? 'text/css' : 'text/javascript';
    const body = readFileSync(join(outdir, file));
    site.set(`/${file.replace('.entry', '')}`, (_, response) => {
      response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=600' });
      response.end(body);
    });
  }
  return files.flatMap((file) => {
    if (!file.endsWith('.html')) return [];
    const html = readFileSync(join(FOLDER, file), 'utf8');
    const list = LIST.exec(html)?.[1];
    if (list === undefined) return [];
    const name = file.slice(0, -'.html'.length);
    return [{ name, url: site.set(`/${name}`, html), expected: list.split('\n') }];
  });
}
