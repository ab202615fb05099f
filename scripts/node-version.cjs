// Loaded before any other script, with `node -r` or by an import: an old Node gets one sentence instead of a syntax error.
// So nothing in here is newer than ES5.
var parts = process.versions.node.split('.').map(Number);
if (parts[0] < 20 || (parts[0] === 20 && parts[1] < 19)) {
  // biome-ignore lint/style/useTemplate: a template is newer than ES5
  console.error('Troupe needs Node 20.19 or later; this is ' + process.versions.node + '. See https://nodejs.org');
  process.exit(1);
}
