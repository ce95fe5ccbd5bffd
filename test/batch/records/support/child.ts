/** Other vloc processes: they take the locks that they are told, and can be killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export interface Child {
  /** Sends the path of a lock and returns whether it was taken. */
  ask(line: string): Promise<string>;
  /** Ends it as a power cut would, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts `other-process.ts`; it ends with the test. */
export function startChild(): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'other-process.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`the other process ended at "${line}"`);
      return value;
    },
    kill,
  };
}
