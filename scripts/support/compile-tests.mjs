// Test files as plain modules. A loader for TypeScript, and the one of tap's runner, make Node load each module of a test by
// way of another thread: half a second of processor time for each file that starts a service.
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Compiles test files, each with those of its helpers that are TypeScript. What they import otherwise, and what they make
 * of `import.meta`, is as if they ran where they are written.
 * @param files paths from the root of the checkout
 * @param outdir below node_modules, where the packages are found
 * @returns the path of what each file became
 */
export async function compileTests(files, outdir) {
  // Not there before the set-up.
  const { build } = await import('esbuild');
  await build({
    entryPoints: files.map((file) => join(root, file)),
    outdir,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    treeShaking: true,
    define: { 'import.meta.url': '__url', 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    logLevel: 'warning',
    plugins: [{ name: 'in place', setup: keepPlaces }],
  });
  return new Map(files.map((file) => [file, join(outdir, relative(root, join(root, file)).replace(/ts$/, 'mjs'))]));
}

function keepPlaces(plugin) {
  plugin.onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
    if (kind === 'entry-point') return undefined;
    const [, package_, file] = /^#(troupe|request-client)\/(.*)$/s.exec(path) ?? [];
    if (file !== undefined) return outside(join(root, 'dist', package_ === 'troupe' ? '' : package_, file));
    if (!path.startsWith('.')) return { path, external: true };
    const beside = join(resolveDir, path);
    return path.endsWith('.js') ? { path: beside.replace(/js$/, 'ts') } : outside(beside);
  });
  plugin.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
    const place = { __url: pathToFileURL(path).href, __dirname: dirname(path), __filename: path };
    const values = Object.entries(place).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    // On the first line, so that the others keep their numbers.
    const contents = `const ${values.join(', ')}; ${await readFile(path, 'utf8')}`;
    return { contents, loader: 'ts' };
  });
}

function outside(file) {
  return { path: pathToFileURL(file).href, external: true };
}
