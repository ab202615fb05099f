const numbers = (text) => (text.match(/-?\d+/g) ?? []).map(Number);

export const drawing = {
  'draw-line': async ({ act }, ask) => {
    const [x1, y1, x2, y2] = numbers(ask);
    await act('{canvas}Paper', 'drag', { path: [[x1, y1], [(x1 + x2) / 2, (y1 + y2) / 2], [x2, y2]] });
  },
  'draw-rectangle': async ({ act, look, spots }) => {
    await act('{button}Rectangle', 'click');
    const canvas = (await look()).find(({ role }) => role === 'canvas').locator;
    await act(canvas, 'drag', { path: await spots(canvas, [255, 0, 0]) });
  },
  'canvas-circle': async ({ act, spots }, ask) => {
    const colors = { red: [224, 0, 0], green: [0, 160, 0], blue: [0, 0, 224], orange: [224, 160, 0], purple: [160, 0, 160] };
    const [[x, y]] = await spots('{canvas}', colors[ask.match(/the (\w+) circle/)[1]]);
    await act('{canvas}', 'click', { x, y });
  },
  'canvas-points': async ({ act }, ask) => {
    for (const [, x, y] of ask.matchAll(/\((\d+), (\d+)\)/g)) await act('{canvas}Field', 'click', { x: Number(x), y: Number(y) });
  },
  'connect-nodes': async ({ act }, ask) => {
    for (const [, from, to] of ask.matchAll(/([A-Z]\w+) to ([A-Z]\w+)/g)) await act(`{g}${from}`, 'drag', `{g}${to}`);
  },
  'color-wheel': async ({ act }, ask) => {
    const angle = (numbers(ask)[0] * Math.PI) / 180;
    await act('{canvas}Color wheel', 'click', { x: Math.round(111 + 80 * Math.cos(angle)), y: Math.round(111 + 80 * Math.sin(angle)) });
  },
  'pie-menu': async ({ act, look }, ask) => {
    await act('{button}+', 'click');
    const wanted = ask.match(/"(\w)"/)[1];
    await act((await look()).find(({ name }) => name === wanted).locator, 'click');
  },
  'hold-pie-menu': async ({ act }, ask) => {
    const way = { above: [0, -70], 'to the right': [70, 0], below: [0, 70], 'to the left': [-70, 0] }[ask.match(/pixels (.*)\.$/)[1]];
    await act('{canvas}Stage', 'drag', { by: way });
  },
  'svg-shapes': async ({ act }, ask) => act(`{g}${ask.match(/the (.*)\./)[1]}`, 'click'),
  'wheel-map': async ({ act, text, spots }, ask) => {
    const [level] = numbers(ask);
    for (let zoom = numbers(await text('{b}'))[0]; zoom !== level; zoom = numbers(await text('{b}'))[0]) {
      await act('{canvas}Map', 'wheel', [0, zoom < level ? -100 : 100]);
    }
    const [[x, y]] = await spots('{canvas}Map', [0, 0, 204]);
    await act('{canvas}Map', 'drag', { by: [201 - x, 131 - y] });
  },
};
