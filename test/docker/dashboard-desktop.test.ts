import t from 'tap';
import { skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** Green; turns red when pressed, and blue when a text is pasted into its field. */
const PAGE = `data:text/html,${encodeURIComponent(`<title>green</title><body style="margin: 0; background: #00c800">
<textarea style="position: fixed; inset: 35% 10% 35% 60%"
  oninput="if (value === 'from outside') document.body.style.background = '#0000c8'"></textarea>
<script>onclick = () => { document.body.style.background = '#c80000'; document.title = 'red'; }</script>`)}`;

t.test(
  'In the desktop of a container a viewer changes nothing, a client with control presses and pastes, and both see the same',
  { skip: skipWithoutDocker },
  async (t) => {
    const service = await startTestService(t, { driver: 'docker' });
    const { id } = await service.live();
    t.match(await service.run(id, `agent.go(${JSON.stringify(PAGE)})`), { status: 200 });
    const reader = await openReader(t);
    const other = await reader.context.newPage();
    const readers = [reader.page, other];
    for (const page of readers) await page.goto(`${service.url}/#/sessions/${id}`);
    const colour = `(() => {
      const canvas = document.querySelector('[role=application] canvas');
      if (!canvas || canvas.width < 300) return null;
      return [...canvas.getContext('2d').getImageData(canvas.width / 4, canvas.height / 2, 1, 1).data].slice(0, 3).join();
    })()`;
    const shows = (wanted: string) =>
      eventually(`both show ${wanted}`, async () => {
        const colours = await Promise.all(readers.map((page) => page.evaluate(colour)));
        return colours.every((one) => one === wanted);
      });
    await shows('0,200,0');
    const press = async () => {
      const box = await reader.page.locator('[role=application] canvas').boundingBox();
      if (box === null) throw new Error('There is no desktop');
      await reader.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    };
    await press();
    t.match(await service.run(id, 'agent.wait(150); agent.page("document.title")'), { body: 'green' });
    await reader.page.getByRole('button', { name: 'Take control' }).click();
    await reader.shows('You have control');
    await eventually('the press arrives', async () => {
      await press();
      return (await reader.page.evaluate(colour)) === '200,0,0';
    });
    await shows('200,0,0');
    await other.getByText('Control taken, from 127.0.0.1').waitFor();

    const clipboard = reader.page.getByLabel('Clipboard of the desktop');
    await clipboard.fill('from outside');
    await reader.page.getByRole('button', { name: 'Send to the desktop' }).click();
    const canvas = reader.page.locator('[role=application] canvas');
    const { width = 0, height = 0 } = (await canvas.boundingBox()) ?? {};
    // The field is there wherever the browser places the page below its own bars.
    await canvas.click({ position: { x: width * 0.75, y: height * 0.53 } });
    // Keys and the clipboard are sent separately: a key may arrive before the text.
    await eventually('the text is pasted', async () => {
      await reader.page.keyboard.press('Control+a');
      await reader.page.keyboard.press('Control+v');
      return (await reader.page.evaluate(colour)) === '0,0,200';
    });
    await shows('0,0,200');
    await reader.page.keyboard.type(' and back');
    await eventually('what was copied there is here', async () => {
      await reader.page.keyboard.press('Control+a');
      await reader.page.keyboard.press('Control+c');
      return (await clipboard.inputValue()) === 'from outside and back';
    });
    t.same(reader.problems, []);
  },
);
