import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interruption } from '../../commands/context.ts';
import type { Io } from '../../commands/io.ts';

/**
 * Asks on stderr and reads one line; null where there is no terminal, and when the input ends (Ctrl-D).
 * @throws Interruption on Ctrl-C, which a terminal in raw mode hands over as a key
 */
export async function askLine(question: string, typed: 'shown' | 'hidden', io: Io): Promise<string | null> {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return null;
  const reader = createInterface({
    input: io.stdin,
    // The reader shows each key that is typed by writing it here.
    output: typed === 'hidden' ? createSink() : io.stderr,
    terminal: true,
  });
  // On a muted output the reader could not ask. Not before it is there: until then the terminal itself shows what is typed.
  if (typed === 'hidden') io.stderr.write(`${question} `);
  try {
    return await new Promise((resolve, reject) => {
      reader.question(typed === 'hidden' ? '' : `${question} `, resolve);
      reader.on('close', () => resolve(null));
      reader.on('SIGINT', () => reject(new Interruption('SIGINT')));
    });
  } finally {
    reader.close();
    if (typed === 'hidden') io.stderr.write('\n');
  }
}

function createSink(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
