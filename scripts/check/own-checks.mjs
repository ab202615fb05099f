import { decidedDependencies } from './decided-dependencies.mjs';
import { docsInStep } from './docs-in-step.mjs';
import { engines } from './engines.mjs';
import { foreignText } from './foreign-text.mjs';
import { kubernetesManifests } from './kubernetes-manifests.mjs';
import { leakGuard } from './leak-guard.mjs';
import { lockFile } from './lock-file.mjs';
import { longFiles } from './long-files.mjs';
import { namedCalls } from './named-calls.mjs';
import { serverBinaries } from './server-binaries.mjs';
import { setUpSize } from './set-up-size.mjs';
import { suites } from './suites.mjs';
import { terminalOutput } from './terminal-output.mjs';
import { texts } from './texts.mjs';

/** The checks that no tool makes: each takes the repository and answers what is wrong, a line for each fault. */
export const ownChecks = {
  'docs in step': docsInStep,
  'decisions on dependencies': decidedDependencies,
  'leak guard': leakGuard,
  'patterns over foreign text': foreignText,
  'output of commands': terminalOutput,
  'names in texts': namedCalls,
  'texts that people read': texts,
  'Kubernetes manifests': kubernetesManifests,
  'suites of tests': suites,
  'lock file': lockFile,
  'Node versions of packages': engines,
  'size of the set-up': setUpSize,
  'binaries of uWebSockets.js': serverBinaries,
};

/** The same, of what is worth a look and no fault. */
export const ownWarnings = { 'long files': longFiles };
