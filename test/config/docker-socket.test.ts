import t from 'tap';
import { dockerSocket, podmanSocket, type SocketWish } from '#troupe/config/docker-socket.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const SYSTEM = '/var/run/docker.sock';
const ROOTLESS = '/run/user/1000/docker.sock';
const DESKTOP = '/Users/ann/.docker/run/docker.sock';
const PODMAN = '/run/user/1000/podman/podman.sock';
const user: SocketWish = { uid: 1000, HOME: '/home/ann' };

const cases: readonly [string, SocketWish, readonly string[], string | null][] = [
  ['DOCKER_HOST before everything else', { ...user, DOCKER_HOST: 'unix:///x/y.sock' }, [SYSTEM, ROOTLESS], '/x/y.sock'],
  ['an empty DOCKER_HOST is none', { ...user, DOCKER_HOST: '' }, [SYSTEM], SYSTEM],
  ['an engine of another machine', { ...user, DOCKER_HOST: 'tcp://10.0.0.1:2376' }, [SYSTEM], null],
  ['an engine over ssh', { ...user, DOCKER_HOST: 'ssh://ann@build' }, [SYSTEM], null],
  ['the engine of the machine', user, [SYSTEM, ROOTLESS], SYSTEM],
  ['rootless Docker, without the variable', user, [ROOTLESS], ROOTLESS],
  ['rootless Docker, with it', { ...user, XDG_RUNTIME_DIR: '/run/x' }, ['/run/x/docker.sock'], '/run/x/docker.sock'],
  ['Docker Desktop on macOS', { uid: 501, HOME: '/Users/ann' }, [DESKTOP], DESKTOP],
  ['none', user, [], SYSTEM],
  ['root has no rootless Docker', { uid: 0, HOME: '/root' }, ['/run/user/0/docker.sock'], SYSTEM],
  ['Podman is never taken by itself', user, [PODMAN], SYSTEM],
  ['Podman by name', { ...user, DOCKER_HOST: `unix://${PODMAN}` }, [], PODMAN],
];

t.test('The engine is found at the socket that DOCKER_HOST names, or at the first one that can be used', (t) => {
  for (const [what, wish, usable, found] of cases)
    t.equal(
      dockerSocket(wish, (path) => usable.includes(path)),
      found,
      what,
    );
  t.end();
});

t.test("Podman's socket is found for the user, then for the machine", (t) => {
  t.equal(
    podmanSocket(user, (path) => path === PODMAN),
    PODMAN,
  );
  t.equal(
    podmanSocket(user, (path) => path === '/run/podman/podman.sock'),
    '/run/podman/podman.sock',
  );
  t.equal(
    podmanSocket(user, () => false),
    null,
  );
  t.end();
});
