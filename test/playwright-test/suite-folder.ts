import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Test } from 'tap';

/** A folder with a Playwright project that has `troupe` installed. @param config members of its configuration, as source */
export function suiteFolder(t: Test, files: { readonly [name: string]: string }, config: string, url: string): string {
  const folder = t.testdir({ node_modules: { '@playwright': {} }, 'package.json': '{}', tests: { ...files } });
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'troupe'));
  symlinkSync(resolve('node_modules/@playwright/test'), join(folder, 'node_modules', '@playwright', 'test'));
  writeFileSync(
    join(folder, 'playwright.config.ts'),
    `export default { testDir: 'tests', outputDir: 'out', workers: 1,
      reporter: [['json'], ['troupe/playwright/reporter']],
      use: { troupe: { url: ${JSON.stringify(url)}, labels: { suite: 'test' } } }, ${config} };`,
  );
  return folder;
}
