import t from 'tap';
import { plainLine, plainText, printableJson } from '#troupe/base/plain-text.js';
import { escapeMarkup } from '#troupe/report/escape.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('Text of others is shown without what a terminal obeys', (t) => {
  const cases: readonly [name: string, text: string, shown: string][] = [
    ['plain', 'Tee: 3 €\n\tzwei 👍', 'Tee: 3 €\n\tzwei 👍'],
    ['colors', '\u001b[31mred\u001b[0m end', 'red end'],
    // Parameters of other kinds: colons, semicolons, private marks, intermediates.
    ['CSI of all kinds', 'a\u001b[38:2::1:2:3mb\u001b[?25lc\u001b[2Jd\u001b[1 qe\u001b[=1uf', 'abcdef'],
    // C1: terminals read U+009B in UTF-8 as they read ESC [.
    ['CSI by C1', 'a\u009b31mb\u009b2Jc', 'abc'],
    // The title, by both ends; a link keeps its text.
    ['OSC', '\u001b]0;title\u0007a\u001b]2;t\u001b\\b\u001b]8;;http://x/\u001b\\link\u001b]8;;\u001b\\', 'ablink'],
    ['OSC by C1', 'a\u009d0;title\u009cb', 'ab'],
    // Strings with other openers: a terminal can be made to answer, which is typed into the shell.
    ['DCS, APC, PM, SOS', 'a\u001bP$qm\u001b\\b\u001b_x\u001b\\c\u001b^y\u001b\\d\u001bXz\u001b\\e', 'abcde'],
    // One that does not end hides nothing of what follows, and none reaches over lines.
    ['OSC without an end', 'a\u001b]0;b\nc\u0007d', 'a0;b\nc\ufffdd'],
    ['others', 'a\u001bcb\u001b(Bc\u001b7d\u001b#8e', 'abcde'],
    ['a lone ESC, and one at the end', 'a\u001b\nb\u001b', 'a\ufffd\nb\ufffd'],
    ['a truncated sequence', 'a\u001b[3', 'a3'],
    ['single characters', 'a\u0000b\u0007c\u0008d\u007fe\u0085f\u000bg', 'a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg'],
    // A carriage return alone writes over the line; with a line feed it is the end of one.
    ['CR', 'ok\rfailed\r\nend', 'ok\ufffdfailed\nend'],
    // Overrides reorder the text around them (CVE-2021-42574); marks of right-to-left languages stay.
    ['directions', 'a\u202eb\u2066c\u200fd', 'a\ufffdb\ufffdc\u200fd'],
    ['surrogates', 'a\ud800b\udc00c\ud83d\ude00', 'a\ufffdb\ufffdc\ud83d\ude00'],
    // A sequence within a sequence: what is left over must not become one.
    ['nested', 'a\u001b\u001b[31m[31mb', 'a\ufffd[31mb'],
  ];
  for (const [name, text, shown] of cases) {
    t.equal(plainText(text), shown, name);
    t.equal(plainText(shown), shown, `${name}, again`);
    t.equal(escapeMarkup(text), escapeMarkup(shown), `${name}, in XML`);
    t.same(JSON.parse(printableJson(JSON.stringify(text))), text, `${name}, in JSON`);
    t.equal(plainText(printableJson(JSON.stringify(text))), printableJson(JSON.stringify(text)), `${name}, printed`);
  }
  t.equal(plainLine('a\r\n\tb\u2028c'), 'a b c');
  t.end();
});

t.test('Long hostile text takes no longer than its length', (t) => {
  for (const part of ['\u001b]', '\u009d', '\u001b[', '\u001b[1;', '\u001bP1', '\r', '\u009b0 ']) {
    const text = part.repeat(300_000);
    t.notOk(plainText(text).includes('\u001b'));
  }
  t.end();
});
