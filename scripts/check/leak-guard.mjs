/**
 * Test files that do not call `guardLeaks(t)`, which fails a file that leaves a thread, a socket, a process or a folder
 * behind. One that cannot says so itself, in a line `// No guardLeaks: <reason>`.
 */
export function leakGuard({ paths, read }) {
  return paths
    .filter((path) => /^(request-client\/)?test\/.*\.(test|proof)\.ts$/.test(path))
    .filter((path) => !/^guardLeaks\(t\);$|^\/\/ No guardLeaks: \S/m.test(read(path)))
    .map((path) => `${path} does not call guardLeaks(t); call it after the imports`);
}
