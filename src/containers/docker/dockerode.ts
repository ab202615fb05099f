// Built into one file with all that these packages need: they are not installed with the service (scripts/build.mjs).
export { default as Modem } from 'docker-modem';
export { default as Docker } from 'dockerode';
