/** The edge: a real process made into `Io`. The only file that touches `process`. */
import type { Io } from '../commands/io.ts';
import { VERSION } from './version.ts';

/** Runs vloc for a process and gives its exit code. */
export async function start(host: NodeJS.Process): Promise<number> {
  silenceExperiments(host);
  const argv = host.argv.slice(2);
  // Answered before the parser loads: scripts ask for it often, and it costs nothing.
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    host.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const { main } = await import('./main.ts');
  return main(argv, ioOf(host));
}

/** Node 22 warns at every use of node:sqlite that it may change; whoever runs vloc can do nothing about it. */
function silenceExperiments(host: NodeJS.Process): void {
  const printers = host.listeners('warning');
  host.removeAllListeners('warning');
  host.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const print of printers) print(warning);
  });
}

function ioOf(host: NodeJS.Process): Io {
  return {
    // Getters: Node makes each stream at its first use, and help uses one of the three.
    get stdin() {
      return host.stdin;
    },
    get stdout() {
      return host.stdout;
    },
    get stderr() {
      return host.stderr;
    },
    env: host.env,
    cwd: host.cwd(),
    platform: host.platform,
    now: Date.now,
    onSignal: (listener) => {
      host.on('SIGINT', listener);
      host.on('SIGTERM', listener);
      return () => {
        host.off('SIGINT', listener);
        host.off('SIGTERM', listener);
      };
    },
    abandon: (code) => host.exit(code),
  };
}
