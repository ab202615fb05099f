import t from 'tap';
import { failureResult } from '#troupe/gateway/mcp/result-content.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

const textOf = (error: unknown): string => {
  const [first] = failureResult(error).content;
  return first?.type === 'text' ? first.text : '';
};

t.test('A failure names each candidate once', async (t) => {
  const candidates = ['{button:1}Go', '{button:2}Go'];
  const said = new TroupeError('LOCATOR_AMBIGUOUS', `Several elements: ${candidates.join(', ')}`, { candidates });
  t.equal(textOf(said), 'LOCATOR_AMBIGUOUS: Several elements: {button:1}Go, {button:2}Go');
  const unsaid = new TroupeError('LOCATOR_AMBIGUOUS', 'Several elements', { candidates });
  t.equal(textOf(unsaid), `LOCATOR_AMBIGUOUS: Several elements\n${JSON.stringify({ candidates })}`);
});

t.end();
