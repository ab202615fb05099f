import { availableParallelism } from 'node:os';
import type { ContainerCreateOptions } from 'dockerode';
import type { LeaseOptions } from '../driver.js';
import { INSTANCE_LABEL, LEASE_LABEL } from './docker-identity.js';
import { desktopSize, workerFlags } from './worker-flags.js';
import type { WorkerFolder } from './worker-folder.js';

/** What one worker may use of the machine, and how its desktop looks. Megabytes are 2^20 bytes. */
export interface WorkerLimits {
  readonly memoryMb: number;
  readonly pids: number;
  /** Cores; never more than the machine has. */
  readonly cpus: number;
  /** The largest file, and all downloads of a session together. */
  readonly downloadsMb: number;
  /** Device pixels to a CSS pixel of the desktop. */
  readonly scale: number;
}

/** What is the same for every container of a driver. */
export interface ContainerSetting {
  readonly instance: string;
  readonly imageId: string;
  /** The system call filter: JSON text; for Podman, which reads it itself, a path. */
  readonly seccomp: string;
  readonly limits: WorkerLimits;
  /** Whether the engine labels files for SELinux. */
  readonly labelsFiles: boolean;
  /** Whether users of containers are others on this machine: the engine is rootless, or remaps users. */
  readonly remapsUsers: boolean;
}

const MEGABYTE = 1_048_576;
/** The user inside, where the service is root; else it is the service's own, so that both can use the same files. */
const WORKER_USER = 1000;

function workerUser(): { readonly uid: number; readonly gid: number } {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];
  return uid === 0 ? { uid: WORKER_USER, gid: WORKER_USER } : { uid, gid };
}

/**
 * Whether what a worker makes in its folder belongs to this user of this machine. Where the engine remaps users it is one
 * that only the engine knows, but neither root nor the service's own.
 */
export function isOfWorker({ remapsUsers }: Pick<ContainerSetting, 'remapsUsers'>, uid: number): boolean {
  return remapsUsers ? uid !== 0 && uid !== process.geteuid?.() : uid === workerUser().uid;
}

/**
 * The body of the engine's create call for one worker. It has no network at all, no capability, no way to gain one, no
 * place to write but memory and its folder of downloads, and no more memory, processes and cores than the limits say.
 */
export function containerSpec(
  { instance, imageId, seccomp, limits, labelsFiles }: ContainerSetting,
  options: LeaseOptions,
  folder: WorkerFolder,
): ContainerCreateOptions {
  const { width, height } = desktopSize(options.viewport, limits.scale);
  const memory = limits.memoryMb * MEGABYTE;
  const { uid, gid } = workerUser();
  return {
    Image: imageId,
    User: `${uid}:${gid}`,
    Cmd: [...workerFlags(options, limits.scale)],
    Env: [
      `TROUPE_SOCKETS=${folder.sockets}`,
      `TROUPE_GATE=${folder.gate}`,
      `TROUPE_SCREEN=${width}x${height}`,
      // Where GLib is used, the language comes from here and not from --lang.
      `LANGUAGE=${(options.locale ?? 'en-US').replaceAll('-', '_')}`,
    ],
    Labels: { [INSTANCE_LABEL]: instance, [LEASE_LABEL]: options.leaseId },
    // The service sees a browser that does not answer by itself, and fifty of these checks cost a core.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', `seccomp=${seccomp}`, ...(labelsFiles ? ['label=disable'] : [])],
      Tmpfs: {
        // Full, both leave the browser more than half: what fills a disk gets an error, and the session goes on.
        '/tmp': tmpfs(limits.memoryMb / 8),
        '/home/worker': tmpfs(limits.memoryMb / 4),
      },
      ShmSize: Math.floor(memory / 2),
      Binds: [
        `${folder.downloads}:${folder.downloads}:rw`,
        `${folder.uploads}:${folder.uploads}:ro`,
        `${folder.sockets}:${folder.sockets}:rw`,
        `${folder.gate}:${folder.gate}:ro`,
      ],
      Memory: memory,
      // No swap beyond it: a page that eats memory is to hit the limit, not the disk.
      MemorySwap: memory,
      PidsLimit: limits.pids,
      NanoCpus: Math.round(Math.min(limits.cpus, availableParallelism()) * 1e9),
      Ulimits: [{ Name: 'fsize', Soft: limits.downloadsMb * MEGABYTE, Hard: limits.downloadsMb * MEGABYTE }],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
      RestartPolicy: { Name: 'no' },
    },
  };
}

function tmpfs(megabytes: number): string {
  return `rw,nosuid,nodev,noexec,mode=1777,size=${Math.floor(megabytes)}m`;
}
