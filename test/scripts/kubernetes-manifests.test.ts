import { readFileSync } from 'node:fs';
import t from 'tap';
import { ownChecks } from '../../scripts/check/own-checks.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const BUDGET = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: a }
spec: { maxUnavailable: 1, selector: { matchLabels: { a: b } } }
`;

const FILES: { readonly [name: string]: readonly [text: string, says: RegExp | null] } = {
  'right.yaml': [BUDGET, null],
  'no-yaml.yaml': ['a: [', /no-yaml.yaml: /],
  'unknown-kind.yaml': ['apiVersion: v1\nkind: Pood\n', /no type is known for "v1 Pood"/],
  'unknown-member.yaml': [
    BUDGET.replace('maxUnavailable', 'maxUnavailble'),
    /unknown-member.yaml: .*maxUnavailble.* does not exist/,
  ],
  'wrong-type.yaml': [BUDGET.replace('{ a: b }', 'a'), /wrong-type.yaml: .*not assignable/],
  'keda.yaml': [
    'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: { name: a }\nspec: { scaleTargetRef: { name: a }, triggers: [{ type: metrics-api, metadata: { url: a, valueLocation: b, targetValue: 20 } }] }\n',
    /keda.yaml: .*targetValue/,
  ],
};

t.test('A manifest that the API would refuse is named with what is wrong', async (t) => {
  const read = (path: string): string => FILES[path.replace('deploy/kubernetes/', '')]?.[0] ?? '';
  const paths = Object.keys(FILES).map((name) => `deploy/kubernetes/${name}`);
  const faults = ownChecks['Kubernetes manifests']({
    paths,
    read,
    has: (path) => paths.includes(path),
    readBytes: (path) => readFileSync(path),
    list: () => [],
  });
  for (const [name, [, says]] of Object.entries(FILES)) {
    const about = faults.filter((fault) => fault.includes(`/${name}:`));
    if (says === null) t.same(about, []);
    else t.match(about.join('\n'), says, name);
  }
  t.equal(faults.length, Object.keys(FILES).length - 1, 'each has one fault');
});
