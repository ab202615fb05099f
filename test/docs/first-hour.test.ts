import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { EmptyRoot, type Terminal, type Typed } from '../support/empty-root.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';

guardLeaks(t);

/** What a line of the documentation must do beside ending with 0; or why it is not typed. */
type Expected =
  | { readonly prints: RegExp; readonly code?: number }
  | { readonly goesOn: RegExp }
  | { readonly skip: string };

const STARTS: { readonly [line: string]: Expected } = {
  'npm start': { goesOn: /Ctrl-C ends the service/ },
  'npm run example': { goesOn: /The example shop is open at http:\/\/127\.0\.0\.1:4500/ },
};

const README: { readonly [line: string]: Expected } = {
  ...STARTS,
  'npm test': { skip: 'takes as long as CI, which types it on a machine as empty as this one' },
  'troupe run examples/flows --parallel 4 --junit out.xml --report reports': { prints: /^4 passed, in /m },
  'curl -s http://127.0.0.1:4444/sessions/$ID/proxy -d \'{"js": "agent.look().elements.map(e => e.locator)"}\'': {
    prints: /"\{a\}Log in"/,
  },
  'claude mcp add troupe -- troupe mcp': { skip: 'somebody else’s program' },
  'claude mcp add --transport http troupe http://127.0.0.1:4444/mcp': { skip: 'somebody else’s program' },
  'troupe go http://127.0.0.1:4500/ --look': { prints: /\{a\}, by name:.*Log in/s },
  "troupe act '{a}Log in' click --look": { prints: /\{input\}Password/ },
  'export OPENAI_API_KEY=...': { skip: 'needs a key' },
  'curl -s http://127.0.0.1:4444/api/sessions/run -d \'{"prompt": "Buy the gift.", "flowFiles": ["examples/gift.md"], "forward": [4500]}\'':
    { skip: 'needs a key' },
};

const GETTING_STARTED: { readonly [line: string]: Expected } = {
  ...STARTS,
  'troupe eval \'agent.go("http://127.0.0.1:4500/login"); agent.look().elements.map(e => e.locator)\'': {
    prints: /"\{input\}User name"/,
  },
  'troupe run flows/first.js --report reports': { prints: /1 passed/ },
};

interface Block {
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): Block[] {
  return [...readFileSync(page, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', text = '']) => ({ language, text }),
  );
}

/** The lines of a page that are typed, without what is said beside them. */
function linesOf({ language, text }: Block): string[] {
  if (!['', 'sh'].includes(language)) return [];
  return text.split('\n').flatMap((line) => line.replace(/\s+# .*/, '').trim() || []);
}

/** Types the lines of a page, each in the terminal where one would. */
class Reader {
  readonly #t: Test;
  readonly #root: EmptyRoot;
  readonly #expected: { readonly [line: string]: Expected };
  readonly #terminal: Terminal;

  constructor(t: Test, root: EmptyRoot, expected: { readonly [line: string]: Expected }) {
    this.#t = t;
    this.#root = root;
    this.#expected = expected;
    this.#terminal = root.openTerminal();
  }

  async type(line: string, expected: Expected | undefined = this.#expected[line]): Promise<Typed> {
    if (expected !== undefined && 'skip' in expected) {
      this.#t.comment(`not typed: ${line}: ${expected.skip}`);
      return { output: '', code: 0 };
    }
    if (expected !== undefined && 'goesOn' in expected) {
      this.#t.ok(await this.#root.openTerminal().start(line, expected.goesOn), line);
      return { output: '', code: 0 };
    }
    const typed = await this.#terminal.type(line);
    this.#t.equal(typed.code, expected?.code ?? 0, `${line}\n${typed.output}`);
    if (expected !== undefined) this.#t.match(typed.output, expected.prints, line);
    return typed;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  await new Promise((resolve) => server.close(resolve));
  return free;
}

const skip =
  skipWithout('debootstrap', 'unshare', 'nsenter', 'pivot_root', 'pgrep', 'git') ||
  (process.geteuid?.() !== 0 && 'not root') ||
  (!(await Promise.all([4444, 4500, 3000].map(isFree))).every(Boolean) && 'port 4444, 4500, or 3000 is in use');

t.test(
  'Each line of README.md and of getting started does what it says, on a machine with Node and npm alone',
  { skip },
  async (t) => {
    const root = await EmptyRoot.make(t);

    await t.test('README.md', async (t) => {
      const blocks = blocksOf('README.md');
      const reader = new Reader(t, root, README);
      const lines = blocks.flatMap(linesOf);
      for (const line of Object.keys(README)) t.ok(lines.includes(line), `README.md has: ${line}`);
      let hasTools = false;
      for (const block of blocks) {
        if (block.language === 'js') await reader.type(`troupe eval - <<'END'\n${block.text}END`);
        if (block.language === 'ts') {
          const program = block.text.replace(/^import type .*\n/m, '');
          await reader.type(`cat >program.mjs <<'END'\n${program}END`);
          await reader.type('node program.mjs', { prints: /'\{a\}Log in'/ });
        }
        for (const line of linesOf(block)) {
          if (!hasTools && /curl|jq/.test(line)) {
            hasTools = true;
            await reader.type('apt-get -qq update && apt-get -qq install --no-install-recommends curl jq >/dev/null');
          }
          await reader.type(line);
        }
      }
      await root.closeTerminals();
    });

    await t.test('docs/getting-started.md', async (t) => {
      const blocks = blocksOf('docs/getting-started.md');
      const reader = new Reader(t, root, GETTING_STARTED);
      const lines = blocks.flatMap(linesOf);
      for (const line of Object.keys(GETTING_STARTED)) t.ok(lines.includes(line), `getting started has: ${line}`);
      const run = 'troupe run flows/first.js --report reports';
      for (const block of blocks) {
        if (block.language === 'js') await reader.type(`cat >flows/first.js <<'END'\n${block.text}END`);
        for (const line of linesOf(block)) {
          await reader.type(line);
          if (line !== run) continue;
          await reader.type("sed -i s/\\'Ada\\'/\\'Grace\\'/ flows/first.js");
          await reader.type(run, { prints: /Expected: Grace\n\s*Received: Ada/, code: 1 });
          await reader.type('troupe why', { prints: /Expected: Grace\n\s*Received: Ada/ });
        }
      }
      // Section 6, in a project of its own.
      const settings = blocks.find(({ language }) => language === 'json')?.text ?? '';
      const workflow = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
      const steps = [...workflow.matchAll(/^\s*- run: (.*)$/gm)].map(([, step = '']) => step);
      t.equal(steps.length, 2);
      await reader.type(
        'npm pack && mkdir -p /project/flows && mv troupe-*.tgz /project && cp -r examples/shop /project && cd /project',
      );
      await reader.type('echo \'{ "scripts": { "start": "node shop/main.mjs --port 3000" } }\' >package.json');
      await reader.type(
        `cp /troupe/flows/first.js flows/ && sed -i s/Grace/Ada/ flows/first.js && cat >flows/troupe-run.json <<'END'\n${settings}END`,
      );
      for (const step of steps) await reader.type(step);
      await reader.type('ls junit.xml reports/index.html');
      await root.closeTerminals();
    });
  },
);
