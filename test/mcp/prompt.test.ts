import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { MCP_INSTRUCTIONS } from '#troupe/agent-js/prompt/mcp-instructions.js';
import { renderSections } from '#troupe/agent-js/prompt/sections.js';
import { EVAL_TOOL } from '#troupe/gateway/mcp/eval-tool.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test('The prompt document of a session is correct', async (t) => {
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  writeFileSync(
    join(service.home, 'flows', 'greet.js'),
    '// Greets somebody.\n// Politely.\n({ who }) => "Hello " + who',
  );
  const { id } = await service.live();
  const prompt = await service.call('GET', `/sessions/${id}/prompt`);
  t.same([prompt.status, prompt.headers.get('content-type')], [200, 'text/markdown; charset=utf-8']);
  const document: string = prompt.body;
  t.match(document, /\n- greet: Greets somebody\.\n/);

  await t.test('Its curl line works as printed', { skip: skipWithout('bash', 'curl') }, async (t) => {
    const [line = ''] = /^curl .*$/m.exec(document) ?? [];
    t.match(line, `${service.url}/sessions/${id}/proxy`);
    // The page itself is not on this machine.
    const local = line.replace('https://example.com/', 'data:text/html,<button>Hi</button>');
    const { stdout } = await promisify(execFile)('bash', ['-c', local], { timeout: 60_000 });
    t.match(JSON.parse(stdout), { elements: [{ locator: '{button}Hi' }] });
  });

  await t.test('Every call that the document, the tool or the instructions name exists', async (t) => {
    const said = [document, renderSections(), MCP_INSTRUCTIONS, EVAL_TOOL.description].join('\n');
    const calls = new Set(said.match(/\b(?:agent|File|Flow)\.\w+(?=\()/g));
    t.ok(calls.size >= 15, [...calls].join(' '));
    for (const call of calls) t.equal((await service.run(id, `typeof ${call}`)).body, 'function', call);
    const markers: readonly string[] = document.match(/"#[^"]*"/g) ?? [];
    const samples = {
      '"#string"': '"x"',
      '"#number"': '1',
      '"#present"': '0',
      '"#? _ > 3"': '4',
      '"#[3]"': '[1, 2, 3]',
    };
    for (const [marker, value] of Object.entries(samples)) {
      t.ok(markers.includes(marker), marker);
      t.equal((await service.run(id, `match(${value}, ${marker})`)).body, true, marker);
    }
  });

  await t.test('An ended session has no prompt document', async (t) => {
    await service.call('DELETE', `/api/sessions/${id}`);
    t.match(await service.call('GET', `/sessions/${id}/prompt`), { status: 409, body: { code: 'SESSION_ENDED' } });
  });

  await t.test('The document without a session creates one', { skip: skipWithout('bash', 'curl', 'jq') }, async (t) => {
    const general = await service.call('GET', '/prompt');
    t.same([general.status, general.headers.get('content-type')], [200, 'text/markdown; charset=utf-8']);
    const [, lines = '', last = ''] =
      /```sh\n([\s\S]*?)```[\s\S]*?`(curl -s -X DELETE [^`]*)`/.exec(general.body) ?? [];
    const local = `${lines.replace('https://example.com/', 'data:text/html,<button>Hi</button>')}\n${last}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', local], { timeout: 60_000 });
    t.match(stdout, /"locator":"\{button\}Hi"/);
    t.match(stdout, /"status":"stopped"/);
    t.same((await service.call('GET', '/api/sessions?state=running')).body, []);
  });
});
