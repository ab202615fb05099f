// The bundler for other folders, which do not see the packages of this one.
export { build } from 'esbuild';
