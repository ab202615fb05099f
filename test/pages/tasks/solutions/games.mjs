const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
];

export const games = {
  'tic-tac-toe': async ({ act, look }, ask) => {
    const [, mark] = ask.match(/play (\w)/);
    const fields = (await look()).filter(({ role }) => role === 'div');
    const isFree = (at) => fields[at].name.startsWith('row ');
    const line = LINES.find((one) => one.filter((at) => fields[at].name === mark).length === 2 && one.some(isFree));
    await act(fields[line.find(isFree)].locator, 'click');
  },
  'resize-textarea': async ({ act, look }) => {
    const area = (await look()).find(({ role }) => role === 'textarea');
    await act(area.locator, 'drag', {
      path: [
        [116, 56],
        [300, 220],
      ],
    });
  },
  'grid-coordinate': async ({ act, spots }, ask) => {
    const [across, up] = ask.match(/-?\d+/g).map(Number);
    const found = await spots('{svg}', [70, 130, 180]);
    const steps = (axis) => [...new Set(found.map((spot) => Math.round(spot[axis])))].sort((one, two) => one - two);
    const [columns, rows] = [steps(0), steps(1)];
    const near = (all, nth) => all[0] + ((all.at(-1) - all[0]) * (nth + 2)) / 4;
    await act('{svg}', 'click', { x: Math.round(near(columns, across)), y: Math.round(near(rows, -up)) });
  },
  'daily-calendar': async ({ act }, ask) => {
    const [from, to] = ask.match(/(\d+):00 to (\d+):00/).slice(1).map(Number);
    await act(`{div}${from}:00`, 'drag', `{div}${to - 1}:00`);
  },
  'hot-cold': async ({ act, text }) => {
    for (let x = 10; x < 200; x += 25) {
      for (let y = 10; y < 200; y += 25) {
        await act('{div}area', 'hover', { x, y });
        if ((await text()).includes('HOT')) return act('{div}area', 'click', { x, y });
      }
    }
  },
  sign: async ({ act }) => {
    await act('{^p}Terms and more', 'scroll', 'bottom');
    await act('{canvas}', 'drag', {
      path: [
        [20, 50],
        [80, 20],
        [140, 80],
        [220, 30],
        [280, 60],
      ],
    });
    await act('{button}Sign', 'click');
  },
  guess: async ({ act, text }) => {
    let [low, high] = [0, 9];
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      await act('{input}Guess', 'input', String(middle));
      await act('{button}Try', 'click');
      const said = await text();
      if (said.includes('That is it')) return;
      if (said.includes('higher')) low = middle + 1;
      else high = middle - 1;
    }
  },
  'popup-login': async ({ act, wait }, ask) => {
    const [, user, password] = ask.match(/as (\w+) with the password (\w+)/);
    await act('{input}User', 'input', user);
    await act('{input}Password', 'input', password);
    await wait('{a}Cancel');
    await act('{a}Cancel', 'click');
    await act('{input}Password', 'input', password);
    await act('{button}Log in', 'click');
  },
};
