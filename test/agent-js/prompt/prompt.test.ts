import { readFile } from 'node:fs/promises';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import t from 'tap';
import { MCP_INSTRUCTIONS } from '#troupe/agent-js/prompt/mcp-instructions.js';
import { PROMPT_SECTIONS, renderSections } from '#troupe/agent-js/prompt/sections.js';
import { sessionDocument } from '#troupe/agent-js/prompt/session-document.js';
import { EVAL_TOOL } from '#troupe/gateway/mcp/eval-tool.js';
import { ERROR_TABLE } from '#troupe/protocol/errors.js';
import { ActionName } from '#troupe/protocol/look.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

const vocabulary = new Tiktoken(o200k);
const tokens = (text: string): number => vocabulary.encode(text).length;

const BASE = 'https://browsers.troupe.example.com';
const DOCUMENT = {
  timeLeft: { hardMs: 1_800_000, idleMs: 300_000 },
  proxyUrl: `${BASE}/sessions/k3v9x0a1b2c3/proxy`,
  recordUrl: `${BASE}/api/sessions/k3v9x0a1b2c3`,
  needsToken: true,
};

t.test('The definition of the tool is less than 350 tokens', async (t) => {
  t.ok(tokens(JSON.stringify(EVAL_TOOL)) < 350, `${tokens(JSON.stringify(EVAL_TOOL))}`);
});

t.test('The document for a session is at most 1,500 tokens, whatever flows there are', async (t) => {
  const about = 'Покупает чайник 🫖 und bezahlt ihn mit der Karte, die im Konto hinterlegt ist, und wartet';
  const flows = Array.from({ length: 5000 }, (_, n) => ({ path: `shop/überprüfung-${n}`, about: about.repeat(3) }));
  const text = sessionDocument({ ...DOCUMENT, flows });
  t.ok(tokens(text) <= 1500, `${tokens(text)}`);
  t.match(text, /\n- shop\/überprüfung-0: Покупает[^\n]*…\n/);
  t.match(text, /\n- 49\d\d more: File\.list\(\)\n/);
  t.match(sessionDocument({ ...DOCUMENT, flows: [] }), /There are no flows yet\./);
});

t.test('The document without a session and the skill are at most 1,500 tokens each', async (t) => {
  const $ID = { proxyUrl: `${BASE}/sessions/$ID/proxy`, recordUrl: `${BASE}/api/sessions/$ID`, needsToken: true };
  const general = sessionDocument({ createUrl: `${BASE}/api/sessions`, ...$ID, flows: [] });
  const skill = await readFile('skills/troupe/SKILL.md', 'utf8');
  for (const text of [general, skill]) t.ok(tokens(text) <= 1500, `${tokens(text)}`);
  t.match(general, /^ID=\$\(curl -s -H "Authorization: Bearer \$TOKEN" -X POST \S+\/api\/sessions \| jq -r \.id\)$/m);
  t.match(skill, /^---\nname: troupe\ndescription: .{100,1024}\n---\n/);
});

t.test('The document says how much time there is', async (t) => {
  const timeLeft = { hardMs: 28.9 * 60_000, idleMs: 60_000 };
  t.match(
    sessionDocument({ ...DOCUMENT, timeLeft, flows: [] }),
    /ends in 28 minutes, or after 1 minute without a script/,
  );
});

t.test('Every action is described with its value', async (t) => {
  for (const text of [sessionDocument({ ...DOCUMENT, flows: [] }), MCP_INSTRUCTIONS]) {
    for (const action of ActionName.options) t.match(text, new RegExp(`\\b${action}\\b`), action);
    t.match(text, /\{dialog\}OK/);
    t.match(text, /File\.write/);
    t.match(text, /agent\.tab\(0\)/);
    t.match(text, /marks: true/);
  }
});

t.test('A token is asked for where one is needed, and only there', async (t) => {
  t.match(sessionDocument({ ...DOCUMENT, flows: [] }), /-H "Authorization: Bearer \$TOKEN"/);
  t.notMatch(sessionDocument({ ...DOCUMENT, needsToken: false, flows: [] }), /TOKEN/);
});

t.test('Instructions are no longer than what clients keep of them, and say how to begin', async (t) => {
  t.ok(MCP_INSTRUCTIONS.length <= 2000, `${MCP_INSTRUCTIONS.length}`);
  t.match(MCP_INSTRUCTIONS, /Begin with\nagent\.go\("https:\/\/\.\.\."\); agent\.look\(\)/);
  t.ok((EVAL_TOOL.description?.length ?? 0) <= 2000);
});

t.test('What the reference says of errors is true', async (t) => {
  const codes = renderSections().match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [];
  t.ok(codes.length > 5);
  for (const code of codes) t.ok(Object.hasOwn(ERROR_TABLE, code), code);
});

t.test('A reader of JSON is told of looks as they serialise', async (t) => {
  t.match(renderSections(PROMPT_SECTIONS, 2, 'json'), /added: \[element\]/);
  t.match(renderSections(), /\+ added, - removed, ~ changed/);
});
