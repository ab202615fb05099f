import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Test } from 'tap';
import { z } from 'zod';
import { openSite } from './agent-fixture.js';
import { LIBRARIES } from './library-install.js';

const LABELS = /\.labels\.mjs$/;

/**
 * One gesture of a person at one control: the control's name or a part of it, its element, the gesture with its value, an
 * expression that holds in the page once it is done and not before, and the labels whose gestures come first. A label is
 * named by its name, or as `name:action`.
 */
const Label = z
  .tuple([z.string(), z.string(), z.string(), z.unknown(), z.string()])
  .rest(z.strictObject({ after: z.array(z.string()) }))
  .transform(([name, element, action, value, proof, more]) => ({
    name,
    element,
    action,
    value: value ?? null,
    proof,
    after: more?.after ?? [],
  }));
export type Label = z.infer<typeof Label>;

/** `also`: CSS of the library's further controls, which a look may list too. */
const LabelFile = z.object({ labels: z.array(Label), also: z.string().default('') });

export interface LibraryPage {
  readonly name: string;
  /** Below: all of it starts under the fold. */
  url(below: boolean): string;
  readonly labels: readonly Label[];
  readonly also: string;
}

/** The names of all libraries that have a page. */
export function libraryNames(): string[] {
  const files = readdirSync(LIBRARIES).filter((file) => LABELS.test(file));
  return files.map((file) => file.replace(LABELS, '')).sort();
}

/** The pages of these libraries, bundled as a site's would be and served. Their packages must be installed. */
export async function openLibraries(t: Test, names: readonly string[]): Promise<readonly LibraryPage[]> {
  const site = await openSite(t);
  const files = readdirSync(LIBRARIES);
  const pages: LibraryPage[] = [];
  for (const name of names) {
    const entry = files.find((file) => file === `${name}.mjs` || file === `${name}.jsx`) ?? `${name}.mjs`;
    const bundles = await bundle(name, entry);
    for (const [file, body] of bundles) {
      const type = file.endsWith('.css') ? 'text/css' : 'text/javascript';
      site.set(`/${file}`, (_, response) => {
        response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=3600' });
        response.end(body);
      });
    }
    const style = bundles.has(`${name}.css`) ? `<link rel="stylesheet" href="/${name}.css">` : '';
    const urls = [false, true].map((below) =>
      site.set(
        `/${name}${below ? '-below' : ''}`,
        page(name, style, below ? '<div style="height: 2000px"></div>' : ''),
      ),
    );
    const file: unknown = await import(pathToFileURL(join(LIBRARIES, `${name}.labels.mjs`)).href);
    const { labels, also } = LabelFile.parse(file);
    pages.push({ name, labels, also, url: (below) => urls[below ? 1 : 0] ?? '' });
  }
  return pages;
}

const page = (name: string, style: string, before: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>${name}</title>${style}
<body>${before}<main id="main"></main><script>var heard = []; var say = (what) => { heard.push(String(what)); };</script>
<script type="module" src="/${name}.js"></script>`;

async function bundle(name: string, entry: string): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: { [name]: join(LIBRARIES, entry) },
    outdir: LIBRARIES,
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    define: {
      global: 'globalThis',
      'process.env': '{}',
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    loader: {
      '.svg': 'dataurl',
      '.png': 'dataurl',
      '.gif': 'dataurl',
      '.jpg': 'dataurl',
      '.woff': 'empty',
      '.woff2': 'empty',
      '.ttf': 'empty',
      '.eot': 'empty',
    },
    logLevel: 'error',
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}
