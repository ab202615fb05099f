import { join } from 'node:path';
import ts from 'typescript';
import { readYaml } from '../support/read-yaml.mjs';

const FOLDER = 'deploy/kubernetes/';
/** Where the type of each kind is: the API's own, as the package has them, and what is not of the API. */
const TYPES = {
  'v1 Namespace': ['Namespace', 'kubernetes-types/core/v1'],
  'v1 Secret': ['Secret', 'kubernetes-types/core/v1'],
  'v1 Service': ['Service', 'kubernetes-types/core/v1'],
  'apps/v1 StatefulSet': ['StatefulSet', 'kubernetes-types/apps/v1'],
  'policy/v1 PodDisruptionBudget': ['PodDisruptionBudget', 'kubernetes-types/policy/v1'],
  'networking.k8s.io/v1 NetworkPolicy': ['NetworkPolicy', 'kubernetes-types/networking/v1'],
  'keda.sh/v1alpha1 ScaledObject': ['ScaledObject', './custom-resources'],
  'keda.sh/v1alpha1 TriggerAuthentication': ['TriggerAuthentication', './custom-resources'],
  'kustomize.config.k8s.io/v1beta1 Kustomization': ['Kustomization', './custom-resources'],
};

/**
 * What is wrong with the manifests of `deploy/kubernetes/`: members that the API does not know, that are missing, or that have
 * another type. The API's schema is compared by the compiler, which refuses members that no one reads.
 */
export function kubernetesManifests({ paths, read, root }) {
  const files = paths.filter((path) => path.startsWith(FOLDER) && path.endsWith('.yaml'));
  if (files.length === 0) return [];
  const faults = [];
  const typed = [];
  for (const path of files) {
    try {
      for (const value of readYaml(read(path))) {
        const name = `${value?.apiVersion} ${value?.kind}`;
        const type = TYPES[name];
        if (type === undefined) faults.push(`${path}: no type is known for "${name}": add it to TYPES`);
        else typed.push({ path, type, value });
      }
    } catch (error) {
      faults.push(`${path}: ${error.message}`);
    }
  }
  return [...faults, ...compilerFaults(typed, root ?? process.cwd())];
}

/** Each value stands in a module of its own text, as a literal of its type. */
function compilerFaults(typed, root) {
  const modules = new Map(
    typed.map(({ path, type: [name, from], value }, index) => [
      join(root, 'scripts/check', `manifest-${index}.ts`),
      {
        path,
        text: `import type { ${name} } from '${from}';\nexport const value: ${name} = ${JSON.stringify(value, null, 1)};`,
      },
    ]),
  );
  const options = {
    noEmit: true,
    strict: true,
    types: [],
    lib: ['lib.es2020.d.ts'],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (file) => modules.has(file) || fileExists(file);
  host.getSourceFile = (file, ...more) =>
    modules.has(file)
      ? ts.createSourceFile(file, modules.get(file).text, ts.ScriptTarget.ES2022)
      : getSourceFile(file, ...more);
  const program = ts.createProgram([...modules.keys()], options, host);
  return [...modules].flatMap(([file, { path, text }]) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText, start }) => {
        const line = text.slice(0, start).split('\n').length - 1;
        return `${path}: ${text.split('\n')[line].trim()} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
      },
    );
  });
}
