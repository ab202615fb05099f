import { decidedDependencies } from './decided-dependencies.mjs';
import { docsInStep } from './docs-in-step.mjs';
import { engines } from './engines.mjs';
import { fileSizes, folderSizes } from './file-sizes.mjs';
import { kubernetesManifests } from './kubernetes-manifests.mjs';
import { leakGuard } from './leak-guard.mjs';
import { lockFile } from './lock-file.mjs';
import { serverBinaries } from './server-binaries.mjs';
import { setUpSize } from './set-up-size.mjs';

/** The checks that no tool makes: each takes the repository and answers what is wrong, a line for each fault. */
export const ownChecks = {
  'file sizes': fileSizes,
  'folder sizes': folderSizes,
  'docs in step': docsInStep,
  'decisions on dependencies': decidedDependencies,
  'leak guard': leakGuard,
  'Kubernetes manifests': kubernetesManifests,
  'lock file': lockFile,
  'Node versions of packages': engines,
  'size of the set-up': setUpSize,
  'binaries of uWebSockets.js': serverBinaries,
};
