const numbers = (text) => (text.match(/-?\d+/g) ?? []).map(Number);

export const dragging = {
  'drag-box': async ({ act }) => act('{div}Small', 'drag', '{region}Large box'),
  'sort-numbers': async ({ act, look }) => {
    const order = async () => (await look()).flatMap(({ role, name }) => (role === 'li' ? [Number(name)] : []));
    const wanted = (await order()).sort((a, b) => a - b);
    for (let n = 0; n < wanted.length; n++) {
      const now = await order();
      if (now[n] !== wanted[n]) await act(`{li}${wanted[n]}`, 'drag', `{li}${now[n]}`);
    }
  },
  'swap-tiles': async ({ act }, ask) => {
    for (const [, a, b] of ask.matchAll(/\b([A-Z]) with ([A-Z])/g)) await act(`{div}${a}`, 'drag', `{div}${b}`);
  },
  kanban: async ({ act }, ask) => {
    const [, card, column] = ask.match(/"(.*?)".*"(.*?)"/);
    await act(`{div}${card}`, 'drag', `{section}${column}`);
  },
  splitter: async ({ act, text }, ask) => {
    const now = numbers(await text('{p:2}'))[0];
    await act('{separator}Resize panel', 'drag', { by: [numbers(ask)[0] - now, 0] });
  },
  'slide-to-unlock': async ({ act }) => act('{button}Slide to unlock', 'drag', { by: [250, 0] }),
  'follow-path': async ({ act }, ask) => {
    const [right, down, more] = numbers(ask);
    await act('{circle}Ball', 'drag', { path: [[12, 12], [12 + right, 12], [12 + right, 12 + down], [12 + right + more, 12 + down]] });
  },
  'move-by': async ({ act }, ask) => {
    const [, x, side, y, way] = ask.match(/(\d+) pixels to the (left|right) and (\d+) (up|down)/);
    await act('{div}Card', 'drag', { by: [side === 'left' ? -x : +x, way === 'up' ? -y : +y] });
  },
  'shape-bins': async ({ act }) => {
    for (const thing of ['Ball', 'Coin']) await act(`{div}${thing}`, 'drag', '{^div}Round things');
    for (const thing of ['Brick', 'Book']) await act(`{div}${thing}`, 'drag', '{^div}Square things');
  },
  'swipe-cards': async ({ act }, ask) => {
    for (const [, name, side] of ask.matchAll(/(\w+) to the (left|right)/g)) await act(`{div}${name}`, 'drag', { by: [side === 'left' ? -140 : 140, 0] });
  },
  'row-handles': async ({ act, look }, ask) => {
    const [, from, to] = ask.match(/Drag (\w+) .* of (\w+)\./);
    const handle = (await look()).find(({ role, name }) => role === 'span' && name.includes(from));
    const row = (await look()).find(({ role, name }) => role === 'span' && name.includes(to));
    await act(handle.locator, 'drag', row.locator);
  },
  crop: async ({ act, text }, ask) => {
    const [width, height] = numbers(ask), [w, h] = numbers(await text('{p:2}'));
    await act('{div}Resize', 'drag', { by: [width - w, height - h] });
  },
  'price-range': async ({ act, text }, ask) => {
    const [low, high] = numbers(ask), [from, to] = numbers(await text('{p:2}'));
    await act('{div}Lowest price', 'drag', { by: [(low - from) * 2, 0] });
    await act('{div}Highest price', 'drag', { by: [(high - to) * 2, 0] });
  },
};
