import t from 'tap';
import { skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { RfbClient } from '../support/rfb-client.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** Green; where it is pressed it turns red. */
const PAGE = `data:text/html,${encodeURIComponent(`<title>colours</title><body style="margin: 0; background: #00c800">
<script>onclick = () => { document.body.style.background = '#c80000'; document.title += ', pressed'; };
onkeydown = (event) => { document.title += ', typed ' + event.key; };</script>`)}`;
const [GREEN, RED] = [0x00c800, 0xc80000];

t.test(
  'Many see the same desktop; a click of who has control changes the page, and one of who looks does not',
  { skip: skipWithoutDocker },
  async (t) => {
    const service = await startTestService(t, { driver: 'docker' });
    const { id } = await service.live();
    t.match(await service.run(id, `agent.go(${JSON.stringify(PAGE)})`), { status: 200 });
    const [one, other] = await Promise.all([RfbClient.open(service.url, id), RfbClient.open(service.url, id)]);
    const [x, y] = [600, 400];
    const shows = (client: RfbClient, colour: number) =>
      eventually(`the desktop shows ${colour.toString(16)}`, async () => {
        await client.look();
        // Not where the mouse is drawn.
        return client.colour(x / 2, y) === colour;
      });
    await Promise.all([shows(one, GREEN), shows(other, GREEN)]);
    // What is around the page may still be drawn.
    await eventually('two see the same', async () => {
      await Promise.all([one.look(), other.look()]);
      return one.pixels.equals(other.pixels);
    });

    one.click(x, y);
    one.socket.send(Buffer.of(4, 1, 0, 0, 0, 0, 0, 97));
    one.socket.send(Buffer.of(4, 0, 0, 0, 0, 0, 0, 97));
    // Its answer comes after what was sent before it was looked at.
    await one.look();
    t.match(await service.run(id, 'agent.page("document.title")'), { body: 'colours' });

    const { control } = (await service.call('POST', `/api/sessions/${id}/control`, { take: true })).body;
    const acting = await RfbClient.open(service.url, id, `?control=${control}`);
    acting.click(x, y);
    await Promise.all([shows(one, RED), shows(other, RED), shows(acting, RED)]);
    one.click(x, y);
    await one.look();
    other.socket.send(control);
    other.socket.send(Buffer.of(4, 1, 0, 0, 0, 0, 0, 98));
    other.socket.send(Buffer.of(4, 0, 0, 0, 0, 0, 0, 98));
    const js = `agent.page("document.title")`;
    await eventually('the key reaches the page', async () => {
      const { body } = await service.call('POST', `/sessions/${id}/proxy`, { js, control });
      // Had a click or a key of who only looks come late, it would stand here.
      return body === 'colours, pressed, typed b';
    });
    t.pass('a text message with the key makes a connection act that only looked');

    await service.call('POST', `/api/sessions/${id}/control`, { take: false });
    acting.click(x, y);
    await acting.look();
    t.match(await service.run(id, js), { body: 'colours, pressed, typed b' }, 'control released');

    const ends = [one, other, acting].map(
      ({ socket }) => new Promise<number>((resolve) => socket.on('close', resolve)),
    );
    await service.call('DELETE', `/api/sessions/${id}`);
    t.same(await Promise.all(ends), [1000, 1000, 1000], 'the desktop ends with its session');
  },
);
