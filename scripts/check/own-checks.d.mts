export interface Repository {
  /** The files of the repository, from its root, with forward slashes. */
  readonly paths: readonly string[];
  has(path: string): boolean;
  read(path: string): string;
  /** The bytes of a file. */
  readBytes(path: string): Uint8Array;
  /** The names in a folder. */
  list(path: string): readonly string[];
  /** Where it is on the disk; left out by one that is made of texts. */
  readonly root?: string;
}

type OwnCheck = (repository: Repository) => readonly string[];

export const ownChecks: {
  readonly 'docs in step': OwnCheck;
  readonly 'decisions on dependencies': OwnCheck;
  readonly 'leak guard': OwnCheck;
  readonly 'patterns over foreign text': OwnCheck;
  readonly 'output of commands': OwnCheck;
  readonly 'names in texts': OwnCheck;
  readonly 'texts that people read': OwnCheck;
  readonly 'Kubernetes manifests': OwnCheck;
  readonly 'suites of tests': OwnCheck;
  readonly 'lock file': OwnCheck;
  readonly 'size of the set-up': OwnCheck;
  readonly 'binaries of uWebSockets.js': OwnCheck;
  readonly 'Node versions of packages': (repository: Repository, nodeVersion?: string) => readonly string[];
};

export const ownWarnings: { readonly 'long files': OwnCheck };
