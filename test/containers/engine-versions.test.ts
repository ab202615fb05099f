import t from 'tap';
import { usableDocker } from '#troupe/service/choose-driver.js';
import { ENGINE_20_10, ENGINE_28, ENGINE_29, fakeEngine, PODMAN } from '../support/fake-engine.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const image = 'troupe-worker:x';
const config = (dockerSocket: string) => ({ dockerSocket, worker: { image } as never });

for (const release of [ENGINE_20_10, ENGINE_28, ENGINE_29, PODMAN]) {
  t.test(`Engine ${release.Version} is asked in an API version that it takes`, async (t) => {
    const { socketPath } = await fakeEngine(t, () => ({ Id: 'sha256:1' }), release);
    t.match(await usableDocker(config(socketPath)), { version: release.Version, image: { id: 'sha256:1' } });
  });
}
