// Builds a page: that of the service, or the window of the request client.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import { build, transform } from 'esbuild';
import { compile, compileModule } from 'svelte/compiler';

const TARGET = 'es2022';
/** A file that `index.html` names; in what is built it has a name that changes with its content. */
const NAMED_FILE = /(?<=(?:href|src)=")\.\/([\w.-]+)(?=")/g;

/**
 * Builds one page: `index.html`, and beside it `assets/` with all that it loads. Links are relative, since a proxy may
 * serve the pages under a path of its own.
 *
 * @param folder of the page, absolute
 * @param outDir absolute; emptied first
 */
export async function buildPage(folder, outDir) {
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  await rm(outDir, { recursive: true, force: true });
  const names = [...new Set([...html.matchAll(NAMED_FILE)].map(([, name]) => name))];
  const { metafile } = await build({
    entryPoints: names.map((name) => join(folder, name)),
    outdir: join(outDir, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: TARGET,
    conditions: ['svelte', 'browser', 'production'],
    loader: { '.svg': 'copy' },
    plugins: [svelte],
    logLevel: 'warning',
  });
  const outputs = Object.entries(metafile.outputs).map(([path, { entryPoint }]) => ({
    link: `./${relative(outDir, path)}`,
    source: entryPoint === undefined ? '' : basename(entryPoint),
  }));
  const linkOf = (name) => outputs.find(({ source, link }) => source === name && extname(link) !== '.css')?.link;
  // The first stylesheet is that of the page itself. Those of parts that come later are small, and loaded with it.
  const styles = outputs
    .filter(({ link }) => extname(link) === '.css')
    .map(({ link }) => `    <link rel="stylesheet" href="${link}" />\n`);
  const built = html
    .replace(NAMED_FILE, (path, name) => linkOf(name) ?? path)
    .replace('  </head>', `${styles.join('')}  </head>`);
  await mkdir(outDir, { recursive: true });
  await writeFile(join(outDir, 'index.html'), built);
}

/** Compiles components, and modules with runes. The styles of a component are a module of their own. */
const svelte = {
  name: 'svelte',
  setup(builder) {
    const styles = new Map();
    builder.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const { js, css, warnings } = compile(source, { filename: path, generate: 'client', css: 'external' });
      if (css === null) return { contents: js.code, warnings: warnings.map(toWarning) };
      styles.set(`${path}.css`, css.code);
      return {
        contents: `${js.code}\nimport ${JSON.stringify(`${path}.css`)};`,
        loader: 'ts',
        warnings: warnings.map(toWarning),
      };
    });
    builder.onResolve({ filter: /^troupe:script-types$/ }, ({ path }) => ({ path, namespace: 'script-types' }));
    builder.onLoad({ filter: /.*/, namespace: 'script-types' }, async () => {
      const { scriptTypes } = await import('../dist/agent-js/script-api.js');
      // The editor there shows no comments.
      const contents = scriptTypes().replace(/ *\/\*\*[\s\S]*?\*\/\n/g, '');
      return { contents, loader: 'text' };
    });
    builder.onResolve({ filter: /\.svelte\.css$/ }, ({ path }) => ({ path, namespace: 'svelte-css' }));
    builder.onLoad({ filter: /.*/, namespace: 'svelte-css' }, ({ path }) => ({
      contents: styles.get(path),
      loader: 'css',
    }));
    // Of a namespace that is imported as one, esbuild leaves out what nobody uses, such as zod's messages in 50 languages.
    builder.onLoad({ filter: /\/(?:src|request-client)\/protocol\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      return { contents: source.replace("import { z } from 'zod'", "import * as z from 'zod'"), loader: 'ts' };
    });
    builder.onLoad({ filter: /\.svelte\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const { code } = await transform(source, { loader: 'ts', target: TARGET, tsconfigRaw: TYPES_AS_WRITTEN });
      const { js } = compileModule(code, { filename: path, generate: 'client' });
      return { contents: js.code, loader: 'ts' };
    });
  },
};

const TYPES_AS_WRITTEN = { compilerOptions: { verbatimModuleSyntax: true, useDefineForClassFields: true } };

function toWarning({ message, filename, start }) {
  return { text: message, location: { file: filename ?? '', line: start?.line ?? 1, column: start?.column ?? 0 } };
}
