import type { CiBuild } from '../protocol/batches/ci-build.js';

type Variables = Readonly<Record<keyof Omit<CiBuild, 'name'>, readonly string[]>>;

/**
 * For each CI: the variable that only it sets, and where it keeps each value, the best first. On a pull request the
 * branch is the one to be merged rather than the temporary merge reference.
 */
const SYSTEMS: readonly (readonly [name: string, marker: string, variables: Partial<Variables>])[] = [
  [
    'GitHub Actions',
    'GITHUB_ACTIONS',
    {
      commit: ['GITHUB_SHA'],
      branch: ['GITHUB_HEAD_REF', 'GITHUB_REF_NAME'],
      repository: ['GITHUB_REPOSITORY'],
      buildNumber: ['GITHUB_RUN_NUMBER'],
    },
  ],
  [
    'GitLab CI',
    'GITLAB_CI',
    {
      commit: ['CI_COMMIT_SHA'],
      branch: ['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'CI_COMMIT_REF_NAME'],
      repository: ['CI_PROJECT_PATH'],
      buildUrl: ['CI_JOB_URL', 'CI_PIPELINE_URL'],
      buildNumber: ['CI_PIPELINE_IID'],
    },
  ],
  [
    'Jenkins',
    'JENKINS_URL',
    {
      commit: ['GIT_COMMIT'],
      branch: ['CHANGE_BRANCH', 'BRANCH_NAME', 'GIT_LOCAL_BRANCH', 'GIT_BRANCH'],
      buildUrl: ['BUILD_URL'],
      buildNumber: ['BUILD_NUMBER'],
    },
  ],
  [
    'Azure Pipelines',
    'TF_BUILD',
    {
      commit: ['SYSTEM_PULLREQUEST_SOURCECOMMITID', 'BUILD_SOURCEVERSION'],
      branch: ['SYSTEM_PULLREQUEST_SOURCEBRANCH', 'BUILD_SOURCEBRANCH'],
      repository: ['BUILD_REPOSITORY_NAME'],
    },
  ],
  [
    'Bitbucket Pipelines',
    'BITBUCKET_BUILD_NUMBER',
    {
      commit: ['BITBUCKET_COMMIT'],
      branch: ['BITBUCKET_BRANCH'],
      repository: ['BITBUCKET_REPO_FULL_NAME'],
      buildNumber: ['BITBUCKET_BUILD_NUMBER'],
    },
  ],
  [
    'Buildkite',
    'BUILDKITE',
    {
      commit: ['BUILDKITE_COMMIT'],
      branch: ['BUILDKITE_BRANCH'],
      buildUrl: ['BUILDKITE_BUILD_URL'],
      buildNumber: ['BUILDKITE_BUILD_NUMBER'],
    },
  ],
  [
    'CircleCI',
    'CIRCLECI',
    {
      commit: ['CIRCLE_SHA1'],
      branch: ['CIRCLE_BRANCH'],
      buildUrl: ['CIRCLE_BUILD_URL'],
      buildNumber: ['CIRCLE_BUILD_NUM'],
    },
  ],
  // Woodpecker, Drone, Travis, and scripts of one's own set CI and some of these.
  [
    'CI',
    'CI',
    {
      commit: ['CI_COMMIT_SHA', 'DRONE_COMMIT_SHA', 'TRAVIS_COMMIT', 'COMMIT_SHA', 'GIT_COMMIT'],
      branch: ['CI_COMMIT_BRANCH', 'DRONE_BRANCH', 'TRAVIS_BRANCH', 'BRANCH_NAME', 'GIT_BRANCH'],
      repository: ['CI_REPO', 'DRONE_REPO', 'TRAVIS_REPO_SLUG'],
      buildUrl: ['CI_PIPELINE_URL', 'DRONE_BUILD_LINK', 'TRAVIS_BUILD_WEB_URL', 'BUILD_URL'],
      buildNumber: ['CI_PIPELINE_NUMBER', 'DRONE_BUILD_NUMBER', 'TRAVIS_BUILD_NUMBER', 'BUILD_NUMBER'],
    },
  ],
];

/** The CI build that these variables describe; null outside of CI. */
export function readCiBuild(env: NodeJS.ProcessEnv): CiBuild | null {
  const system = SYSTEMS.find(([, marker]) => (env[marker] ?? '') !== '' && env[marker] !== 'false');
  if (system === undefined) return null;
  const [name, , variables] = system;
  const valueFor = (member: keyof Variables) =>
    (variables[member] ?? []).map((variable) => env[variable]?.trim() ?? '').find((value) => value !== '') ?? null;
  const number = valueFor('buildNumber');
  return {
    name,
    commit: valueFor('commit'),
    branch: valueFor('branch')?.replace(/^(refs\/heads\/|refs\/remotes\/origin\/|origin\/)/, '') ?? null,
    repository: valueFor('repository'),
    buildUrl: valueFor('buildUrl') ?? githubRunUrl(env),
    buildNumber: number !== null && /^\d{1,15}$/.test(number) ? Number(number) : null,
  };
}

function githubRunUrl({ GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID }: NodeJS.ProcessEnv): string | null {
  if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY || !GITHUB_RUN_ID) return null;
  return `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
}
