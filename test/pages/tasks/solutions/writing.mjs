const numbers = (text) => (text.match(/-?\d+/g) ?? []).map(Number);
const quoted = (text) => [...text.matchAll(/"(.*?)"/g)].map(([, inner]) => inner);

export const writing = {
  'highlight-paragraph': async ({ act }, ask) => {
    // The task itself is the first paragraph of the page.
    const n = ['first', 'second', 'third'].findIndex((word) => ask.includes(word));
    await act(`{p:${n + 2}}`, 'selectText');
    await act('{button}Submit', 'click');
  },
  'highlight-range': async ({ act }, ask) => {
    await act('{textarea}Text', 'press', 'Control+Home');
    for (let n = numbers(ask)[0]; n > 0; n--) await act('{textarea}Text', 'press', 'Shift+ArrowRight');
    await act('{button}Use selection', 'click');
  },
  'rich-text': async ({ act }, ask) => {
    await act('{textbox}Letter', 'input', quoted(ask)[0]);
    await act('{textbox}Letter', 'press', 'Control+A');
    await act(ask.includes('bold') ? '{button}B' : '{button}I', 'click');
    await act('{button}Save', 'click');
  },
  'copy-paste': async ({ act }) => {
    await act('{textarea}Source', 'press', 'Control+A');
    await act('{textarea}Source', 'press', 'Control+C');
    await act('{input}Target', 'press', 'Control+V');
  },
  terminal: async ({ act, text }, ask) => {
    const type = async (line) => {
      for (const key of line) await act('{textbox}Terminal', 'press', key === ' ' ? 'Space' : key);
      await act('{textbox}Terminal', 'press', 'Enter');
    };
    await type('ls');
    const ending = ask.match(/\.(\w+)\.$/)[1];
    await type(`rm ${(await text('{textbox}Terminal')).match(new RegExp(`\\w+\\.${ending}\\b`))[0]}`);
  },
  chat: async ({ act, text, wait }, ask) => {
    await act('{textbox}Message', 'input', quoted(ask)[0]);
    await act('{textbox}Message', 'press', 'Enter');
    await wait('{^*}The code is');
    await act('{textbox}Message', 'input', (await text()).match(/The code is (\d+)/)[1]);
    await act('{textbox}Message', 'press', 'Enter');
  },
  'phone-mask': async ({ act }, ask) => {
    const [phone, card] = ask.match(/\d+/g);
    await act('{input}Phone', 'input', phone);
    await act('{input}Card', 'input', card);
    await act('{button}Send', 'click');
  },
  'one-time-code': async ({ act, text }) => {
    const digits = (await text()).match(/Your code is (\d+)/)[1];
    for (const [n, digit] of [...digits].entries()) await act(`{input}Digit ${n + 1}`, 'input', digit);
  },
  spreadsheet: async ({ act }, ask) => {
    await act('{table}Sheet', 'press', 'ArrowDown');
    let at = [1, 0];
    for (const [, value, column, row] of ask.matchAll(/(\d+) into cell ([A-C])(\d)/g)) {
      const to = [Number(row) - 1, 'ABC'.indexOf(column)];
      for (; at[0] < to[0]; at[0]++) await act('{table}Sheet', 'press', 'ArrowDown');
      for (; at[0] > to[0]; at[0]--) await act('{table}Sheet', 'press', 'ArrowUp');
      for (; at[1] < to[1]; at[1]++) await act('{table}Sheet', 'press', 'ArrowRight');
      for (; at[1] > to[1]; at[1]--) await act('{table}Sheet', 'press', 'ArrowLeft');
      for (const digit of value) await act('{table}Sheet', 'press', digit);
      await act('{table}Sheet', 'press', 'Enter');
      at = [Math.min(3, at[0] + 1), at[1]];
    }
  },
  'inline-grid': async ({ act, look }, ask) => {
    const [, column, name, value] = ask.match(/the (\w+) of (\w+) to (\d+)/);
    const row = (await look()).find((one) => one.name.startsWith(`${name} `));
    await act(`{td}${row.name.split(' ')[column === 'price' ? 1 : 2]}`, 'input', value);
  },
  'sum-form': async ({ act, text }) => {
    const [, a, sign, b] = (await text()).match(/(\d+) ([-+×]) (\d+) =/);
    await act('{input}Answer', 'input', String({ '+': +a + +b, '-': a - b, '×': a * b }[sign]));
    await act('{button}Submit', 'click');
  },
  tags: async ({ act, look }, ask) => {
    const [off, more] = quoted(ask);
    await act((await look()).find(({ name }) => name.includes('×') && name.includes(off)).locator, 'click');
    await act('{input}Add a tag', 'input', more);
    await act('{input}Add a tag', 'press', 'Enter');
  },
  'emoji-picker': async ({ act }, ask) => {
    for (const name of ask.match(/emoji (\w+) and then (\w+)/).slice(1)) {
      await act('{button}☺', 'click');
      await act(`{i}${name}`, 'click');
    }
  },
  palette: async ({ act }, ask) => {
    await act('{body}', 'press', 'Control+K');
    await act('{input}Command', 'input', quoted(ask)[0]);
    await act('{input}Command', 'press', 'Enter');
  },
  'arrow-game': async ({ act }, ask) => {
    const [row, column] = ask.match(/row (\d), column (\d)/).slice(1).map(Number);
    // Down the first column, where no wall is, and then to the right.
    for (let n = 1; n < row; n++) await act('{application}Board', 'press', 'ArrowDown');
    for (let n = 1; n < column; n++) await act('{application}Board', 'press', 'ArrowRight');
  },
};
