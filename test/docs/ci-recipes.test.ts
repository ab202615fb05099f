import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

/** What each CI sets, and its heading in docs/ci.md. */
const SYSTEMS: { readonly [heading: string]: { readonly [name: string]: string } } = {
  'GitHub Actions': {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: 'a'.repeat(40),
    GITHUB_REF_NAME: 'main',
    GITHUB_STEP_SUMMARY: 'summary.md',
  },
  'GitLab CI': {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_COMMIT_SHA: 'b'.repeat(40),
    CI_COMMIT_REF_NAME: 'main',
    CI_NODE_INDEX: '1',
    CI_NODE_TOTAL: '1',
  },
  Jenkins: {
    JENKINS_URL: 'http://ci.example.com/',
    GIT_COMMIT: 'c'.repeat(40),
    GIT_BRANCH: 'origin/main',
    BUILD_NUMBER: '7',
  },
};

/** The `troupe run` line of a recipe, as its shell gets it. */
function runLine(document: string, heading: string): string {
  const [, recipe = ''] = document.split(`\n### ${heading}\n`);
  const [, line = ''] = /(?:- run: |- |sh ")(troupe run [^"\n]*)"?/.exec(recipe.split('\n### ')[0] ?? '') ?? [];
  return line.replace(/\$\{\{ matrix\.part \}\}\/3/, '1/1');
}

t.test('The pipeline examples run as they are, and their jobs have the commit and branch of the CI', async (t) => {
  const service = await startTestService(t, { maxSessions: 3, warmSessions: 0 });
  const document = readFileSync('docs/ci.md', 'utf8');
  const tried = Object.entries(SYSTEMS).map(async ([heading, variables], index) => {
    const folder = mkdtempSync(join(tmpdir(), 'pipeline-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'bin'));
    mkdirSync(join(folder, 'flows', 'shop'), { recursive: true });
    writeFileSync(join(folder, 'flows', 'shop', 'ok.js'), '() => 1;');
    const command = join(folder, 'bin', 'troupe');
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${join(process.cwd(), 'dist/cli.js')}' "$@"\n`);
    chmodSync(command, 0o755);
    const line = runLine(document, heading);
    t.match(line, /^troupe run flows .*--junit junit\.xml --report reports/, heading);
    const child = spawn('sh', ['-ec', line], {
      cwd: folder,
      // Only what the CI sets: the tests themselves may run in one.
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        HOME: folder,
        TROUPE_URL: service.url,
        ...variables,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const [code] = await once(child, 'close');
    t.equal(code, 0, `${heading}: ${output}`);
    t.match(readFileSync(join(folder, 'junit.xml'), 'utf8'), '<testsuite name="flows.shop" tests="1"');
    t.ok(existsSync(join(folder, 'reports', 'index.html')));
    t.ok(existsSync(join(folder, 'reports', 'shop', 'ok', 'report.html')));
    const commit = 'abc'.charAt(index).repeat(40);
    const jobs = (await service.call('GET', `/api/sessions?label=commit=${commit}`)).body;
    t.match(jobs, [{ name: 'shop/ok', labels: { commit, branch: 'main' } }], heading);
    if (heading === 'GitHub Actions') t.match(readFileSync(join(folder, 'summary.md'), 'utf8'), '0 failed');
  });
  await Promise.all(tried);
});
