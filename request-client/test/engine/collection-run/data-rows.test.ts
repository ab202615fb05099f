import t from 'tap';
import { readDataRows } from '#request-client/engine/collection-run/data-rows.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

const rowsOf = (content: string | Uint8Array) => readDataRows(content, 'users.csv');
const utf16 = (text: string, order: 'le' | 'be'): Uint8Array => {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
};

t.test('CSV is read however spreadsheets quote it, and end its lines', async (t) => {
  const two = [
    { city: 'Bern', id: 7 },
    { city: 'Chur', id: 8 },
  ];
  for (const [what, text, rows] of [
    ['blanks around quotes', 'city,id\n"Bern" ,7\n \t"Chur"\t , 8 \n', two],
    ['quoted names', '"city" , "id"\nBern,7\nChur,8', two],
    ['CR alone', 'city,id\rBern,7\rChur,8\r', two],
    ['CRLF', 'city,id\r\nBern,7\r\nChur,8\r\n', two],
    ['line ends of several kinds', 'city,id\r\nBern,7\nChur,8\r', two],
    ['a BOM before a quoted name', '\uFEFF"city",id\nBern,7\nChur,8\n', two],
    ['empty lines', '\n\r\ncity,id\n\nBern,7\n   \nChur,8\n\n\n', two],
    ['separators at the end', 'city,id,,\nBern,7,,\nChur,8\n', two],
    ['a quoted name with a break', '"city\r\nname",id\nBern,7', [{ 'city\r\nname': 'Bern', id: 7 }]],
    ['what quotes protect', 'a,b\n" x,y ","p ""q""\r\nr"\n', [{ a: ' x,y ', b: 'p "q"\r\nr' }]],
    ['quotes within a field', 'a,b\n3" pipe,say "hi" now\n', [{ a: '3" pipe', b: 'say "hi" now' }]],
    ['U+2028 is text', 'a,b\nx\u2028y,"z\u2029"\n', [{ a: 'x\u2028y', b: 'z\u2029' }]],
    [
      'a short row',
      'a,b,c\n1\n,2\n',
      [
        { a: 1, b: '', c: '' },
        { a: '', b: 2, c: '' },
      ],
    ],
    ['one column', 'a\nx\n\n""\ny\n', [{ a: 'x' }, { a: '' }, { a: 'y' }]],
  ] as const) {
    t.strictSame(rowsOf(text), rows, what);
  }
  const own = rowsOf('__proto__,b\nx,1\n')[0] ?? {};
  t.strictSame(Object.entries(own), [
    ['__proto__', 'x'],
    ['b', 1],
  ]);
});

t.test('the separator is that of the names, or the one that the first line declares', async (t) => {
  const rows = [{ name: 'Zoë', price: '1,5' }];
  for (const text of [
    'name;price\nZoë;1,5\n',
    'name\tprice\nZoë\t1,5\n',
    'sep=;\r\nname;price\r\nZoë;1,5\r\n',
    '\uFEFF"sep=|"\nname|price\nZoë|1,5\n',
    'SEP=\t\rname\tprice\rZoë\t1,5',
    '"name";"price"\n"Zoë";"1,5"\n',
  ]) {
    t.strictSame(rowsOf(text), rows, JSON.stringify(text));
  }
  t.strictSame(rowsOf('a\tb\tc\n\t\t3\n1\t \t\n'), [
    { a: '', b: '', c: 3 },
    { a: 1, b: '', c: '' },
  ]);
  t.strictSame(rowsOf('"a;b",c\n1;2,3\n'), [{ 'a;b': '1;2', c: 3 }]);
  for (const text of ['name;price,net\nx;1,5\n', 'name\tprice, net\nx\t1\n', 'a;b\tc\n1;2\t3\n']) {
    t.throws(() => rowsOf(text), { code: 'INVALID_REQUEST', message: /users\.csv.*line 1.*sep=/s }, text);
  }
  t.strictSame(rowsOf('sep=;\nname;price,net\nx;1,5\n'), [{ name: 'x', 'price,net': '1,5' }]);
});

t.test('a value is a number only if the number is written with the same characters', async (t) => {
  const numbers = ['0', '7', '-3', '1.5', '-0.25', '9007199254740991', '12345678901.25'];
  const texts = [
    ...['007', '+1', '-0', '1e5', '1.50', '.5', '5.', '0x10', '1_000', '1,5', '٣', 'true', 'false', 'null', 'NaN'],
    ...['Infinity', '9007199254740993', '9223372036854775807', '-9007199254740992', '0.12345678901234567891'],
  ];
  for (const text of numbers) t.strictSame(rowsOf(`v\t\n${text}\n`), [{ v: Number(text) }], text);
  for (const text of texts) t.strictSame(rowsOf(`v\t\n${text}\n`), [{ v: text }], text);
  t.strictSame(rowsOf('a,b\n"7"," 7 "\n'), [{ a: '7', b: ' 7 ' }], 'quoted numbers are text');
  t.strictSame(rowsOf('1,1.0\nx,y\n'), [{ '1': 'x', '1.0': 'y' }], 'names are text');
  t.strictSame(
    rowsOf(
      '[{"id": 9223372036854775807, "deep": {"list": [-9007199254740993, 1e3, 0.5]}, "text": "9223372036854775807"}]',
    ),
    [{ id: '9223372036854775807', deep: { list: ['-9007199254740993', 1000, 0.5] }, text: '9223372036854775807' }],
    'JSON numbers keep their digits',
  );
});

t.test('a file that would lose something is refused with the line', async (t) => {
  for (const [text, message] of [
    ['a,b\n1,2\n\n1,2,3\n', /line 4.*'3' in column 3.*no name/s],
    ['a,b\n"x\r\ny",1\r\n1,2,x\r\n', /line 4.*'x' in column 3.*no name/s],
    ['a,,c\n1,,3\n1,2,3\n', /line 3.*column 2.*no name/s],
    ['a,b\n1,2\n"x,1\n3,4\n', /line 3.*quote.*not closed/s],
    ['a,b\n"1\r\n2",3\r\n\r\n4,"x\r\ny', /line 5.*quote.*not closed/s],
    ['sep=;\na;b\n1;2\n1;2;3\n', /line 4.*column 3/s],
    ['a,b\n"1\n2","3\n4\n', /line 3.*quote.*not closed/s],
    ['sep=;\na;b\n1;"2\n', /line 3.*quote.*not closed/s],
    ['"a,b\n1,2\n', /line 1.*quote.*not closed/s],
    ['a,b\n1,2\n"x"y,1\n', /line 3.*after the closing quote/s],
    ['id,name,id\n1,x,2\n', /line 1.*'id' twice/s],
    ['id, "id" \n1,2\n', /line 1.*'id' twice/s],
    ['ä,b\nö,"ü\n', /line 2.*quote.*not closed/s],
    ['a\u0000,\u0000b\u0000\n', /encoding/],
    ['{\n"a": 1,\n"b": 2\n}', /JSON list of objects/],
    ['[1]', /JSON list of objects/],
    ['[id],name\n1,x\n', /JSON list of objects/],
    ['', /no rows/],
    ['a,b\n', /no rows/],
    ['sep=;', /no rows/],
  ] as const) {
    t.throws(() => rowsOf(text), { code: 'INVALID_REQUEST', message }, JSON.stringify(text));
    t.throws(() => rowsOf(text), { message: /users\.csv/ });
  }
});

t.test('the encoding is that of the byte order mark, or UTF-8; any other is refused', async (t) => {
  const text = 'name\tcity\r\nZoë\t東京\r\n';
  const rows = [{ name: 'Zoë', city: '東京' }];
  t.strictSame(rowsOf(Buffer.from(text)), rows);
  t.strictSame(rowsOf(Buffer.from(`\uFEFF${text}`)), rows);
  t.strictSame(rowsOf(utf16(text, 'le')), rows);
  t.strictSame(rowsOf(utf16(text, 'be')), rows);
  t.strictSame(rowsOf(utf16('[{"name": "Zoë"}]', 'le')), [{ name: 'Zoë' }]);
  const refused = { code: 'INVALID_REQUEST', message: /users\.csv.*UTF-8/s };
  t.throws(() => rowsOf(Buffer.from('name\nZoë\n', 'latin1')), refused, 'ANSI, as Excel writes CSV on Windows');
  t.throws(() => rowsOf(Buffer.from('name\nZoe\n', 'utf16le')), refused, 'UTF-16 without a mark');
  t.throws(() => rowsOf(utf16('name\nZoe', 'le').subarray(0, -1)), refused, 'half a character');
});
