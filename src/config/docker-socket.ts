import { accessSync, constants } from 'node:fs';

/** The engine's socket where Docker is installed for the whole machine. */
const SYSTEM_SOCKET = '/var/run/docker.sock';
const UNIX = 'unix://';

/** What a socket is chosen by: some variables of the environment, and who asks. */
export interface SocketWish {
  readonly DOCKER_HOST?: string | undefined;
  readonly XDG_RUNTIME_DIR?: string | undefined;
  readonly HOME?: string | undefined;
  /** Undefined where users have no number. */
  readonly uid: number | undefined;
}

/**
 * The Docker engine's socket: the one that DOCKER_HOST names, or null where it names an engine of another machine. Without
 * it the first one that this user may use: the machine's, that of rootless Docker, that of Docker Desktop on macOS.
 * Podman is used where DOCKER_HOST names its socket, see {@link podmanSocket}.
 */
export function dockerSocket(wish: SocketWish, isUsable: (path: string) => boolean = isUsableFile): string | null {
  const { DOCKER_HOST: host, HOME: home } = wish;
  if (host !== undefined && host !== '') return host.startsWith(UNIX) ? host.slice(UNIX.length) : null;
  const candidates = [
    SYSTEM_SOCKET,
    ...runtimeFolders(wish).map((folder) => `${folder}/docker.sock`),
    ...(home === undefined || home === '' ? [] : [`${home}/.docker/run/docker.sock`]),
  ];
  return candidates.find(isUsable) ?? SYSTEM_SOCKET;
}

/** The socket of Podman that this user may use, or null. It answers Docker's API, but only people decide to use it. */
export function podmanSocket(wish: SocketWish, isUsable: (path: string) => boolean = isUsableFile): string | null {
  const candidates = [
    ...runtimeFolders(wish).map((folder) => `${folder}/podman/podman.sock`),
    '/run/podman/podman.sock',
  ];
  return candidates.find(isUsable) ?? null;
}

/** A service that systemd starts for a user has the folder, and not the variable. */
function runtimeFolders({ XDG_RUNTIME_DIR: folder, uid }: SocketWish): readonly string[] {
  if (folder !== undefined && folder !== '') return [folder];
  return uid === undefined || uid === 0 ? [] : [`/run/user/${uid}`];
}

function isUsableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
