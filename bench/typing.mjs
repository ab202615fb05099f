// How long do two actions with keys take where the listeners of the service are hard to keep: in a document that was written
// anew, and in an editor that draws its text itself? Each waits a second for a key that it does not hear.
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

const PAGES = {
  '/plain': '<title></title><input aria-label=Name>',
  '/first': '<title>First</title><button>First</button>',
  '/editor': `<title></title><div id=code aria-label=Name style="width:200px;height:50px" tabindex=0 role=textbox></div>
    <script>
      const context = new EditContext();
      const draw = () => { code.textContent = context.text; };
      code.editContext = context;
      context.ontextupdate = draw;
      code.onkeydown = (event) => {
        if (event.ctrlKey && event.key === 'a') context.updateSelection(0, context.text.length);
        else if (event.key === 'Delete' || event.key === 'Backspace') context.updateText(0, context.text.length, '');
        else return;
        draw();
        event.preventDefault();
      };
    </script>`,
};
const WRITE = `document.open(); document.write(${JSON.stringify(PAGES['/plain'])}); document.close(); 0`;

export async function run({ rounds = 20 } = {}) {
  const browsers = await openTwoBrowsers(PAGES);
  const { agent, origin } = browsers;
  const call = (method, ...args) => agent.module.calls[method](args, callContext());
  const places = {
    'written anew': async () => {
      await call('go', `${origin}/first`);
      await call('look', {});
      await call('page', WRITE);
    },
    'an editor that draws its text': () => call('go', `${origin}/editor`),
  };
  try {
    printHeader();
    const targets = [];
    for (const [name, open] of Object.entries(places)) {
      await open();
      const samples = [];
      // The first round only warms up.
      for (let round = 0; round <= rounds; round += 1) {
        const startedAt = performance.now();
        await call('act', '[aria-label=Name]', 'input', 'Ada', null);
        await call('act', '[aria-label=Name]', 'press', 'Backspace', null);
        if (round > 0) samples.push(performance.now() - startedAt);
      }
      printSamples(`${name}: input and press`, samples, 'ms');
      targets.push(atMost(`typing: ${name}, p50 in ms`, percentile(samples, 0.5), 500));
    }
    return targets;
  } finally {
    await browsers.close();
  }
}

function callContext() {
  const deadline = performance.now() + 60_000;
  const site = { kind: 'script', flow: null, line: 1, column: 1 };
  return { remainingMs: () => deadline - performance.now(), signal: new AbortController().signal, site };
}
