import t from 'tap';
import { readCiBuild } from '#troupe/config/ci.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const SHA = '1234567890abcdef1234567890abcdef12345678';

t.test('Commit, branch, and build come from the variables of each CI', async (t) => {
  const cases: [string, Record<string, string>, object | null][] = [
    ['a shell', { GIT_BRANCH: 'main' }, null],
    ['CI that is switched off', { CI: 'false' }, null],
    [
      'a push on GitHub',
      {
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_SHA: SHA,
        GITHUB_REF_NAME: 'main',
        GITHUB_HEAD_REF: '',
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_REPOSITORY: 'acme/shop',
        GITHUB_RUN_ID: '99',
        GITHUB_RUN_NUMBER: '42',
      },
      {
        name: 'GitHub Actions',
        commit: SHA,
        branch: 'main',
        repository: 'acme/shop',
        buildUrl: 'https://github.com/acme/shop/actions/runs/99',
        buildNumber: 42,
      },
    ],
    [
      'a pull request on GitHub',
      { GITHUB_ACTIONS: 'true', GITHUB_SHA: SHA, GITHUB_REF_NAME: '7/merge', GITHUB_HEAD_REF: 'fix' },
      { branch: 'fix' },
    ],
    [
      'GitLab',
      {
        CI: 'true',
        GITLAB_CI: 'true',
        CI_COMMIT_SHA: SHA,
        CI_COMMIT_REF_NAME: 'main',
        CI_PROJECT_PATH: 'acme/shop',
        CI_JOB_URL: 'https://gitlab.example.com/acme/shop/-/jobs/1',
        CI_PIPELINE_IID: '5',
      },
      { name: 'GitLab CI', commit: SHA, branch: 'main', buildUrl: /jobs\/1$/, buildNumber: 5 },
    ],
    [
      'a merge request on GitLab',
      {
        GITLAB_CI: 'true',
        CI_COMMIT_REF_NAME: 'refs/merge-requests/1/head',
        CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix',
      },
      { branch: 'fix' },
    ],
    [
      'Jenkins with a Git checkout',
      {
        JENKINS_URL: 'http://ci/',
        GIT_COMMIT: SHA,
        GIT_BRANCH: 'origin/feature/x',
        BUILD_NUMBER: '8',
        BUILD_URL: 'http://ci/8/',
      },
      { name: 'Jenkins', commit: SHA, branch: 'feature/x', buildUrl: 'http://ci/8/', buildNumber: 8 },
    ],
    [
      'a multibranch pipeline of Jenkins',
      { JENKINS_URL: 'http://ci/', BRANCH_NAME: 'PR-3', CHANGE_BRANCH: 'fix', GIT_BRANCH: 'PR-3' },
      { branch: 'fix', commit: null },
    ],
    [
      'Azure',
      { TF_BUILD: 'True', BUILD_SOURCEVERSION: SHA, BUILD_SOURCEBRANCH: 'refs/heads/a/b' },
      { branch: 'a/b', commit: SHA },
    ],
    [
      'Bitbucket',
      { CI: 'true', BITBUCKET_BUILD_NUMBER: '3', BITBUCKET_COMMIT: SHA, BITBUCKET_BRANCH: 'b' },
      { commit: SHA, buildNumber: 3 },
    ],
    [
      'Buildkite',
      { CI: 'true', BUILDKITE: 'true', BUILDKITE_COMMIT: SHA, BUILDKITE_BRANCH: 'b' },
      { commit: SHA, branch: 'b' },
    ],
    [
      'CircleCI',
      { CI: 'true', CIRCLECI: 'true', CIRCLE_SHA1: SHA, CIRCLE_BRANCH: 'b', CIRCLE_BUILD_NUM: '3' },
      { commit: SHA, branch: 'b' },
    ],
    [
      'another CI',
      { CI: '1', COMMIT_SHA: SHA, BRANCH_NAME: 'b', BUILD_NUMBER: '3-rc' },
      { name: 'CI', commit: SHA, branch: 'b', buildNumber: null },
    ],
  ];
  for (const [name, env, expected] of cases) {
    const build = readCiBuild(env);
    if (expected === null) t.equal(build, null, name);
    else t.match(build, expected, name);
  }
});
