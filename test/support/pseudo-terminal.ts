/** A command on a real terminal: `script` of util-linux creates a pseudo-terminal and passes on what is typed. */
import { spawn } from 'node:child_process';

export interface TerminalSession {
  /** Everything written so far, escape sequences included. */
  readonly screen: () => string;
  /** Whether the cursor was hidden at most for a time. */
  readonly hasRestoredCursor: () => boolean;
  /** Types; `\x03` is Ctrl-C. */
  readonly type: (keys: string) => void;
  /** Resolves as soon as the screen shows it; rejects when the command ends without. */
  readonly see: (text: string) => Promise<void>;
  /** The exit code. */
  readonly ended: Promise<number>;
}

/** Starts a shell command line; the size of the terminal is 24 rows of 100 cells. */
export function openTerminal(commandLine: string, cwd: string, env: Record<string, string>): TerminalSession {
  const sized = `stty rows 24 cols 100; ${commandLine}`;
  const child = spawn('script', ['--quiet', '--return', '--command', sized, '/dev/null'], {
    cwd,
    env: { TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    for (const watch of watchers) watch();
  });
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? -1));
  });
  return {
    screen: () => screen,
    // Source: xterm, DECTCEM.
    hasRestoredCursor: () => screen.lastIndexOf('\u001b[?25h') > screen.lastIndexOf('\u001b[?25l'),
    type: (keys) => child.stdin.write(keys),
    see: (text) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          if (!screen.includes(text)) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
        void ended.then(() => reject(new Error(`it ended without showing "${text}":\n${screen}`)));
      }),
    ended,
  };
}
