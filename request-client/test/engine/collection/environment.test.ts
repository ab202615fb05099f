import t from 'tap';
import { Environment } from '#request-client/engine/collection/environment.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

const POSTMAN = `{
	"id": "1f",
	"name": "Staging",
	"values": [
		{"key": "base", "value": "http://a", "type": "default", "enabled": true, "description": "kept"},
		{"key": "pin", "value": "1234", "type": "secret", "enabled": true},
		{"key": "old", "value": 7, "enabled": false}
	],
	"_postman_variable_scope": "environment", "_x": 1.50
}`;

t.test('an edit of a Postman environment changes only its own characters', (t) => {
  const environment = Environment.parse(POSTMAN);
  t.equal(environment.name('/x/y.json'), 'Staging');
  t.strictSame(
    [...environment.values],
    [
      ['base', 'http://a'],
      ['pin', '1234'],
    ],
  );
  t.equal(environment.withRows(environment.rows).text, POSTMAN);
  const rows = environment.rows.map((row) => (row.name === 'base' ? { ...row, value: 'http://b' } : row));
  t.equal(environment.withRows(rows).text, POSTMAN.replace('http://a', 'http://b'));
  const more = environment.withRows([...environment.rows, { name: 'new', value: '1', enabled: true, secret: true }]);
  t.match(JSON.parse(more.text), { values: { 3: { key: 'new', value: '1', type: 'secret', enabled: true } }, _x: 1.5 });
  t.match(more.text, '"_x": 1.50');
  t.end();
});

t.test('a plain object keeps values that are not strings, and is edited member by member', (t) => {
  const environment = Environment.parse('{"base": "http://a", "port": 80, "deep": {"a": 1}}');
  t.equal(environment.name('/x/local.environment.json'), 'local');
  const rows = [
    { name: 'port', value: '80', enabled: true, secret: false },
    { name: 'who', value: 'ada', enabled: true, secret: false },
  ];
  t.equal(environment.withRows(rows).text, '{"port": 80, "deep": {"a": 1}, "who": "ada"}');
  t.throws(() => Environment.parse('[1]'), { code: 'INVALID_REQUEST' });
  t.throws(() => Environment.parse('{'), { code: 'INVALID_REQUEST', message: /not valid JSON/ });
  t.end();
});
