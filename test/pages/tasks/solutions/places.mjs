const quoted = (text) => [...text.matchAll(/"(.*?)"/g)].map(([, inner]) => inner);

export const places = {
  tabs: async ({ act, look }, ask) => {
    const [word] = quoted(ask);
    for (const tab of ['{tab}Tab 1', '{tab}Tab 2', '{tab}Tab 3']) {
      await act(tab, 'click');
      const link = (await look()).find(({ role, name }) => role === 'a' && name === word);
      if (link !== undefined) return act(link.locator, 'click');
    }
  },
  accordion: async ({ act, text }, ask) => {
    await act(`{summary}${quoted(ask)[0]}`, 'click');
    await act('{input}Code', 'input', (await text()).match(/Code (\d+)/)[1]);
  },
  dialogs: async ({ act }, ask) => {
    await act('{button}Order', 'click');
    await act('{dialog}Input', 'input', ask.match(/Order for (\w+)/)[1]);
    await act('{dialog}OK', 'click');
    await act(ask.includes('not wrapped') ? '{dialog}Cancel' : '{dialog}OK', 'click');
    await act('{dialog}OK', 'click');
  },
  modal: async ({ act }, ask) => {
    await act('{button}Settings', 'click');
    await act('{select}Language', 'select', ask.match(/choose (\w+)/)[1]);
    if (!ask.includes('not dark')) await act('{input}Dark', 'check');
    await act('{button}Save', 'click');
  },
  wizard: async ({ act, wait }, ask) => {
    const [, name, age, city] = ask.match(/form: (\w+), (\d+) years, from (\w+)/);
    await act('{input}Name', 'input', name);
    await act('{button}Next', 'click');
    await act('{input}Age', 'input', age);
    await act('{button}Next', 'click');
    await act('{select}City', 'select', city);
    await act('{button}Next', 'click');
    await act('{input}I agree', 'check');
    await act('{button}Finish', 'click');
    await wait('{^*}Finished');
  },
  upload: async ({ act, write, wait }, ask) => {
    const [, name, text] = ask.match(/named (\S+) that contains "(.*?)"/);
    await write(name, text);
    await act('{input}Report', 'upload', name);
    await act('{button}Send', 'click');
    await wait(`{*}${name}: ${text}`);
  },
  'drop-file': async ({ act, write, wait }, ask) => {
    const [, name, text] = ask.match(/named (\S+) with the text "(.*?)"/);
    await write(name, text);
    await act('{div}Drop a text file here', 'upload', name);
    await wait(`{*}${name}: ${text}`);
  },
  frames: async ({ act }, ask) => {
    const [, first, second] = ask.match(/enter (\w+) as First and (\w+)/);
    await act('{input}First', 'input', first);
    await act('{input}Second', 'input', second);
    await act('{button}Send', 'click');
  },
  'shadow-roots': async ({ act }, ask) => {
    const [, name, color] = ask.match(/name (\w+), choose (\w+)/);
    await act('{input}Name', 'input', name);
    await act(`{button}${color}`, 'click');
    await act('{button}Send', 'click');
  },
  inbox: async ({ act, look }, ask) => {
    const [, star, bin, open, to] = ask.match(/Star the mail of (\w+), delete the mail of (\w+), and forward the mail of (\w+) to (.*)\./);
    // A row begins with the line of its sender.
    const of = async (word, from) => {
      const list = await look();
      const row = list.findIndex(({ role, name }) => role === 'div' && name.startsWith(from));
      return list.slice(row).find(({ role, name }) => role === 'span' && name.startsWith(word)).locator;
    };
    await act(await of('star', star), 'click');
    await act(await of('bin', bin), 'click');
    await act(await of(open, open), 'click');
    await act('{input}To', 'input', to);
    await act('{button}Forward', 'click');
  },
  cart: async ({ act, text }, ask) => {
    const [, count, first, second] = ask.match(/Buy (\d) of "(\w+)" and 1 of "(\w+)"/);
    const goods = [...(await text()).matchAll(/(\w+)\s+\$\d+\s+Add/g)].map(([, name]) => name);
    for (let n = 0; n < count; n++) await act(`{button:${goods.indexOf(first) + 1}}Add`, 'click');
    await act(`{button:${goods.indexOf(second) + 1}}Add`, 'click');
    await act('{input}Coupon', 'input', 'SAVE10');
    await act('{button}Use', 'click');
    await act('{button}Pay', 'click');
  },
  'table-pages': async ({ act, text }, ask) => {
    const name = ask.match(/amount of (\w+)/)[1];
    for (let page = 1; page <= 3; page++) {
      const amount = (await text('{table}')).match(new RegExp(`${name}\\s+(\\d+)`))?.[1];
      if (amount !== undefined) return act('{input}Amount', 'input', amount);
      await act('{button}Next', 'click');
    }
  },
  'table-check': async ({ act, text }) => {
    for (const [, name] of (await text('{table}')).matchAll(/(\w+)\s+late/g)) await act(`{input}${name}`, 'check');
    await act('{button}Archive', 'click');
  },
  'tree-files': async ({ act }, ask) => {
    const [who, folder, file] = ask.match(/the file (\S+)/)[1].split('/');
    await act(`{treeitem}${who}`, 'click');
    await act(`{treeitem}${folder}`, 'click');
    await act(`{treeitem}${file}`, 'dblclick');
  },
  'undo-toast': async ({ act, text }, ask) => {
    const names = [...(await text()).matchAll(/(\w+)\s+Delete\b/g)].map(([, name]) => name);
    await act(`{button:${names.indexOf(ask.match(/^Delete (\w+)/)[1]) + 1}}Delete`, 'click');
    await act('{a}Undo', 'click');
  },
  'moving-button': async ({ act }) => act('{button}Catch me', 'click'),
  'numbers-in-order': async ({ act }) => {
    for (let n = 1; n <= 7; n++) await act(`{span}${n}`, 'click');
  },
  'seek-bar': async ({ act }, ask) => {
    const [, minutes, seconds] = ask.match(/(\d):(\d\d) of/);
    await act('{div}Seek', 'click', { x: (minutes * 60 + +seconds) * 2, y: 5 });
  },
  stock: async ({ act }) => act('{button}Buy', 'click'),
  tooltip: async ({ act, text }, ask) => {
    const shape = { circle: '●', square: '■', triangle: '▲', diamond: '◆', star: '★' }[ask.match(/at the (\w+)/)[1]];
    await act(`{span}${shape}`, 'hover');
    await act('{input}Code', 'input', (await text()).match(/Code: (\d+)/)[1]);
  },
  'new-tab': async ({ act, text, tab }, ask) => {
    await act(`{a}${ask.match(/link of (\w+)/)[1]}`, 'click');
    const word = (await text()).match(/The word is (\w+)/)[1];
    await tab(0);
    await act('{input}Word', 'input', word);
  },
  'color-field': async ({ act }, ask) => {
    const [, color, size, day] = ask.match(/to (#\w+), the size to (\d+) and the date to (\S+),/);
    await act('{input}Background', 'input', color);
    await act('{input}Size', 'input', size);
    await act('{input}When', 'input', day);
    await act('{button}Save', 'click');
  },
};
