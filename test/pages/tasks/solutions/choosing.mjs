const numbers = (text) => (text.match(/-?\d+/g) ?? []).map(Number);
const quoted = (text) => [...text.matchAll(/"(.*?)"/g)].map(([, inner]) => inner);

export const choosing = {
  autocomplete: async ({ act, look }, ask) => {
    const [part, , end] = quoted(ask);
    await act('{input}Country', 'input', part);
    await act((await look()).find(({ role, name }) => role === 'li' && name.endsWith(end)).locator, 'click');
    await act('{button}Submit', 'click');
  },
  'multi-list': async ({ act, look }, ask) => {
    const wanted = ask.match(/exactly (.*) in the list/)[1].split(', ');
    for (const { role, name, locator, checked } of await look()) {
      if (role === 'option' && (checked === true) !== wanted.includes(name)) await act(locator, 'click');
    }
    await act('{button}Submit', 'click');
  },
  'native-multi': async ({ act }, ask) => {
    await act('{select}Colors', 'select', ask.match(/Select (\w+) and (\w+)/).slice(1));
    await act('{button}Submit', 'click');
  },
  spinner: async ({ act }, ask) => {
    const to = numbers(ask)[0];
    for (let n = Math.abs(to); n > 0; n--) await act(to > 0 ? '{span}▲' : '{span}▼', 'click');
    await act('{button}Submit', 'click');
  },
  'two-sliders': async ({ act }, ask) => {
    const [volume, balance] = numbers(ask);
    await act('{input}Volume', 'input', String(volume));
    await act('{slider}Balance', 'input', String(balance));
    await act('{button}Submit', 'click');
  },
  stars: async ({ act, look }, ask) => {
    const [, book, count] = ask.match(/Give (\w+) (\d)/);
    const stars = (await look()).filter(({ name }) => name.includes(book));
    await act(stars[count - 1].locator, 'click');
  },
  'check-tree': async ({ act, look }, ask) => {
    const [, whole, other, leaf] = ask.match(/all of (\w+) and, of (\w+), only (\w+)/);
    await act(`{input}${whole}`, 'check');
    await act((await look()).find(({ role, name }) => role === 'span' && name.includes(other)).locator, 'click');
    await act(`{input}${leaf}`, 'check');
    await act('{button}Submit', 'click');
  },
  'radio-cards': async ({ act }, ask) => {
    await act(`{^input}${quoted(ask)[0]}`, 'check');
    await act('{button}Continue', 'click');
  },
  'hover-menus': async ({ act, look }, ask) => {
    const [menu, item, leaf] = ask.match(/Choose (.*) in the menu/)[1].split(' > ');
    await act(`{^li}${menu}`, 'hover');
    await act((await look()).find(({ name }) => name.startsWith(item)).locator, 'hover');
    await act(`{a}${leaf}`, 'click');
  },
  'context-menu': async ({ act }, ask) => {
    const [, what, file] = ask.match(/^(Delete|Rename) (\S+)/);
    await act(`{li}${file}`, 'rightclick');
    await act(`{menuitem}${what}`, 'click');
    if (what === 'Rename') await act('{dialog}Input', 'input', 'new-name.txt');
    await act('{dialog}OK', 'click');
  },
  calendar: async ({ act, text }, ask) => {
    const names = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
    const [, month, day] = ask.match(/Choose (\w+) (\d+)/);
    await act('{input}Date', 'click');
    const now = (await text('{b}')).split(' ')[0];
    const by = names.indexOf(month) - names.indexOf(now);
    for (let n = Math.abs(by); n > 0; n--) await act(by > 0 ? '{a}›' : '{a}‹', 'click');
    await act(`{td}${day}`, 'click');
    await act('{button}Submit', 'click');
  },
  'date-range': async ({ act, look }, ask) => {
    const [, first, last] = ask.match(/May (\d+) to June (\d+)/);
    await act('{button}Dates', 'click');
    const cells = (await look()).filter(({ role }) => role === 'gridcell');
    await act(cells.filter(({ name }) => name === first)[0].locator, 'click');
    await act(cells.filter(({ name }) => name === last).at(-1).locator, 'click');
    await act('{button}Apply', 'click');
  },
  'time-wheels': async ({ act, look }, ask) => {
    const [hour, minute] = ask.match(/(\d\d):(\d\d)/).slice(1);
    const options = (await look()).filter(({ role }) => role === 'option');
    await act(options.find(({ name }) => name === hour).locator, 'click');
    await act(options.filter(({ name }) => name === minute).at(-1).locator, 'click');
    await act('{button}Set', 'click');
  },
  'virtual-list': async ({ act, look }, ask) => {
    const [item] = numbers(ask);
    await act((await look()).find(({ name }) => name.startsWith('Item 1:')).locator, 'wheel', [0, (item - 3) * 24]);
    await act(`{^div}Item ${item}:`, 'click');
  },
  'load-more': async ({ act, look }, ask) => {
    const [, name] = ask.match(/Follow (.*?)\./);
    for (let tries = 0; tries < 10; tries++) {
      const buttons = (await look()).filter(({ role }) => role === 'button');
      const found = buttons.find((one) => one.name === `Follow ${name}`);
      if (found !== undefined) return act(found.locator, 'click');
      await act(buttons.at(-1).locator, 'scroll');
      await act(buttons.at(-1).locator, 'wheel', [0, 400]);
    }
  },
};
