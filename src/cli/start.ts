/** The edge: a real process made into `Io`. The only file that touches `process`. */
import type { Io } from '../commands/io.ts';
import { takeEnvironment } from '../profiles/environment.ts';
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
  const io = ioOf(host);
  // Asked by shells at a press of Tab, with a person waiting: it needs no parser either.
  if (argv[0] === 'completion' && argv[1] === 'values') {
    const { valueLines } = await import('../commands/completion/sources.ts');
    io.stdout.write(await valueLines(argv[2] ?? '', io));
    return 0;
  }
  const { main } = await import('./main.ts');
  return main(argv, io);
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
    // The secrets leave the process: neither a crash report nor a child has them.
    env: takeEnvironment(host.env),
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
