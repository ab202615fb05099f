import { readdirSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';

const MICROSECONDS = 1_000_000;

/** The standard process metrics of Prometheus clients. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the service, without its browsers.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the service, without its browsers.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROSECONDS);
    },
  });
  new Gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    registers,
    collect() {
      this.set(openDescriptors());
    },
  });
  new Gauge({ name: 'process_start_time_seconds', help: 'When the service was started.', registers }).set(
    Math.round(Date.now() / 1000 - process.uptime()),
  );
}

function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // The folder does not exist on every system.
    return 0;
  }
}
