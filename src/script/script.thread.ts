import { parentPort, workerData } from 'node:worker_threads';
import { serveScripts } from './serve-scripts.js';

if (parentPort === null) throw new Error('This module is the entry of a script thread');
void serveScripts(parentPort, workerData);
