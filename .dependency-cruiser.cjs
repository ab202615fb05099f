// The house of docs/architecture.md: an import goes down, never up and never sideways. Type imports count.

/** From the top. Each entry is a folder or a file directly under src/. */
const FLOORS = [
  ['cli'],
  ['service'],
  ['gateway'],
  ['webdriver'],
  ['supervisor'],
  ['session'],
  ['auth', 'autonomy', 'cluster', 'playwright', 'playwright-test', 'webhooks'],
  ['terminal'],
  ['agent-js', 'report', 'journal', 'config', 'pages', 'telemetry'],
  ['page'],
  ['script'],
  ['actors', 'artifact-store', 'containers'],
  ['files', 'net-policy', 'client', 'threads'],
  ['protocol'],
  ['base'],
];

/** The wings of src/supervisor/, from the top. `ports` is what the gateway sees of them. */
const WINGS = [['batches', 'upkeep'], ['jobs'], ['browsers'], ['sessions'], ['artifacts'], ['events'], ['ports']];

const wingPath = (names) => `^src/supervisor/(${names.join('|')})/`;

const wingRules = WINGS.flatMap((row, index) =>
  row.flatMap((name) => [
    {
      name: `wing-${name}`,
      comment: `${name} may import only the wings that stand below it`,
      severity: 'error',
      from: { path: wingPath([name]) },
      to: {
        path: wingPath(
          WINGS.slice(0, index + 1)
            .flat()
            .filter((other) => other !== name)
            .concat('none'),
        ),
      },
    },
  ]),
);

/** `cli` is src/cli.ts and everything in src/cli/. */
const pathOf = (names) => `^src/(${names.join('|')})(/|\\.ts$)`;

const floorRules = FLOORS.flatMap((floor, index) =>
  floor
    .map((name) => ({
      name: `floor-of-${name}`,
      comment: `${name} may import only what stands below it in docs/architecture.md`,
      severity: 'error',
      from: { path: pathOf([name]) },
      to: {
        path: pathOf(
          FLOORS.slice(0, index + 1)
            .flat()
            .filter((other) => other !== name),
        ),
      },
    }))
    .filter(({ to }) => to.path !== pathOf([])),
);

const packageOf = (...names) => `(^|/)node_modules/(${names.join('|')})/`;

const onlyImporter = (name, packages, allowed) => ({
  name,
  comment: `only ${allowed} may know these packages`,
  severity: 'error',
  from: { path: '^(src|request-client|web)/', pathNot: allowed },
  to: { path: packageOf(...packages) },
});

const BROWSER_CODE = ['^src/(agent-js|containers|page|session)/', packageOf('playwright-core')];

/** scripts/build.mjs makes one file of each with the packages that it imports. */
const BUILT_WITH_PACKAGES =
  '^(?:src/(?:containers/docker/dockerode|page/vitals\\.entry)|request-client/(?:engine/run/(?:cookie-jar|ntlm|sign-request)|formats/imports/yaml-text|formats/exports/code-library))\\.ts$';

/** The rooms of request-client/, and those that each may import. */
const ROOMS = {
  protocol: [],
  engine: ['protocol'],
  curl: ['engine', 'protocol'],
  formats: ['curl', 'engine', 'protocol'],
  window: ['curl', 'engine', 'formats', 'protocol'],
  commands: ['curl', 'engine', 'formats', 'protocol', 'window'],
  web: ['protocol'],
};

const roomRules = Object.entries(ROOMS).map(([room, below]) => ({
  name: `room-${room}`,
  comment: `${room} may import only the rooms of request-client/ that are named for it here`,
  severity: 'error',
  from: { path: `^request-client/${room}/` },
  to: { path: '^request-client/', pathNot: `^request-client/(${[room, ...below].join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...floorRules,
    ...wingRules,
    ...roomRules,
    {
      name: 'every-folder-has-a-floor',
      comment: 'a new folder under src/ must be given its floor in FLOORS and in docs/architecture.md',
      severity: 'error',
      from: { path: '^src/', pathNot: pathOf(FLOORS.flat()) },
      to: {},
    },
    {
      name: 'one-door-to-the-request-client',
      comment: 'the service knows request-client/index.ts; sessions send requests, and the command line passes on',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^request-client/(?!index\\.ts$)' },
    },
    {
      name: 'who-uses-the-request-client',
      comment: 'the request client stands below sessions and the command line, and above what it imports',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(session|cli)/' },
      to: { path: '^request-client/' },
    },
    {
      name: 'what-the-request-client-uses',
      comment: 'of the service it takes what knows nothing of sessions and browsers',
      severity: 'error',
      from: { path: '^request-client/(?!test/)' },
      to: {
        path: '^src/(?!(base|config|files|net-policy|pages|protocol|script|terminal)(/|\\.ts$)|report/(escape|junit-writer)\\.ts$)',
      },
    },
    {
      name: 'commands-are-data',
      comment: 'the table of commands is loaded at the start of each command, and must load nothing',
      severity: 'error',
      from: { path: '^src/terminal/commands/' },
      to: { pathNot: '^src/terminal/commands/' },
    },
    {
      name: 'no-cycles',
      comment: 'two files that need each other are one, or need a third; a part of a page may draw itself',
      severity: 'error',
      from: { pathNot: '\\.svelte$' },
      to: { circular: true },
    },
    onlyImporter('uws-in-its-folder', ['uWebSockets\\.js', 'uwebsockets'], '^src/gateway/uws/'),
    onlyImporter('mcp-in-gateway', ['@modelcontextprotocol/server', '@modelcontextprotocol/core'], '^src/gateway/'),
    {
      name: 'node-http-in-its-folder',
      comment: 'the gateway knows no HTTP server but by src/gateway/http/http-server.ts',
      severity: 'error',
      from: { path: '^src/gateway/', pathNot: '^src/gateway/(node/|http/status-line\\.ts$)' },
      to: { path: `^(node:)?https?$|${packageOf('ws')}` },
    },
    {
      name: 'http-servers-are-chosen',
      comment: 'only choose-server.ts imports an HTTP server, when it is wanted: its binary may not exist',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/gateway/(uws|node)/|^src/gateway/choose-server\\.ts$' },
      to: { path: '^src/gateway/(uws|node)/' },
    },
    {
      name: 'http-servers-stand-alone',
      comment: 'uWebSockets.js and node:http do not know each other',
      severity: 'error',
      from: { path: '^src/gateway/(uws|node)/' },
      to: { path: '^src/gateway/(uws|node)/', pathNot: '^src/gateway/$1/' },
    },
    onlyImporter('databases-in-journal', ['libsql', 'pg'], '^src/journal/'),
    onlyImporter('sql-in-its-folders', ['kysely'], '^src/(journal|cluster)/'),
    onlyImporter('docker-in-containers', ['dockerode', 'docker-modem'], '^src/containers/docker/'),
    {
      name: 'docker-when-wanted',
      comment: 'dockerode takes 40 ms and 7 MB to load: a service without Docker never does',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/containers/docker/engine-modem\\.ts$', dynamic: false },
    },
    onlyImporter('s3-in-its-store', ['@bradenmacdonald/s3-lite-client'], '^src/artifact-store/'),
    {
      name: 's3-when-wanted',
      comment: 'a service without a bucket never loads the client of S3',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/artifact-store/' },
      to: { path: '^src/artifact-store/s3-', dynamic: false },
    },
    onlyImporter('model-in-autonomy', ['openai'], '^src/autonomy/'),
    {
      name: 'protocol-runs-in-pages',
      comment: 'protocol has no I/O and is bundled into pages',
      severity: 'error',
      from: { path: '^(src|request-client)/protocol/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'boundary-of-pages',
      comment: 'what runs in pages is reached by its protocol; locators are read on both sides',
      severity: 'error',
      from: { path: '^src/(?!page/)' },
      to: { path: '^src/page/(?!(page-calls|wire-descriptor|locator|unique-locators)\\.ts$)' },
    },
    {
      name: 'what-pages-use',
      comment: 'what runs in pages takes of the service the contract, and primordials of the sandbox',
      severity: 'error',
      from: { path: '^src/page/' },
      to: { path: '^src/(?!(page|protocol|script/prelude)/)' },
    },
    {
      name: 'pages-know-only-protocol',
      comment: 'pages talk to their server over HTTP; of the rest they may import the contract alone',
      severity: 'error',
      from: { path: '^(request-client/)?web/' },
      to: { path: '^(src|request-client)/(?!protocol/|web/)' },
    },
    {
      name: 'actors-know-no-browser',
      comment: 'the actor runtime carries any actor; what a session is stands in session',
      severity: 'error',
      from: { path: '^src/actors/' },
      to: { path: packageOf('playwright-core') },
    },
    {
      name: 'script-knows-no-browser',
      comment: 'the sandbox serves the request client too; what scripts can reach comes in as host modules',
      severity: 'error',
      from: { path: '^src/script/' },
      to: { path: BROWSER_CODE },
    },
    {
      name: 'no-development-packages',
      comment:
        'what src/ imports must be there after npm install --omit=dev; some files are built into dist/ with their packages',
      severity: 'error',
      from: { path: '^(src|request-client)/(?!test/|web/)', pathNot: BUILT_WITH_PACKAGES },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'npm-peer'],
        pathNot: packageOf('@types/[^/]+'),
      },
    },
    {
      name: 'no-unresolved-imports',
      comment: 'a file that is imported is there, and a package stands in package.json',
      severity: 'error',
      from: { path: '^(src|request-client|web)/(?!test/)', pathNot: BUILT_WITH_PACKAGES },
      // The pages' build makes the modules of this prefix.
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'], pathNot: '^troupe:' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // A page may use what the service uses, too.
    combinedDependencies: true,
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types', 'default'],
      extensions: ['.ts', '.mts', '.d.ts', '.js', '.mjs', '.json'],
    },
  },
};
