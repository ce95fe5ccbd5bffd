/** Questions to a person on the terminal. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { type Failure, usageFailure } from '../../base/failure.ts';
import { Interruption, type Io, type Question } from '../../commands/context/context.ts';

/**
 * Asks on stderr and reads one line, without the blanks around it.
 * @throws Failure (`usage`) without a terminal, and for no answer: an empty line, or the end of the input (Ctrl-D)
 * @throws Interruption on Ctrl-C, which a terminal in raw mode passes as a key
 */
export async function askLine(question: Question, io: Io, signal: AbortSignal): Promise<string> {
  const answer = (await readAnswer(question, io, signal))?.trim() ?? '';
  if (answer === '') throw noAnswerFailure(question);
  return answer;
}

/**
 * Asks for a yes on stderr; any other line is a no.
 * @throws Failure (`usage`) without a terminal, and when the input ends (Ctrl-D)
 * @throws Interruption on Ctrl-C
 */
export async function askYesNo(question: Question, io: Io, signal: AbortSignal): Promise<boolean> {
  const answer = await readAnswer({ ...question, text: `${question.text} [y/N]` }, io, signal);
  if (answer === null) throw noAnswerFailure(question);
  return /^y(es)?$/i.test(answer.trim());
}

/** Null when the input ends. */
async function readAnswer(question: Question, io: Io, signal: AbortSignal): Promise<string | null> {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) throw noTerminalFailure(question);
  signal.throwIfAborted();
  const isHidden = question.typed === 'hidden';
  const reader = createInterface({
    input: io.stdin,
    // The reader shows each key that is typed by writing it here.
    output: isHidden ? createSink() : io.stderr,
    terminal: true,
  });
  // On a muted output the reader could not ask. Not before it is there: until then the terminal itself shows what is typed.
  if (isHidden) io.stderr.write(`${question.text} `);
  let isAnswered = false;
  try {
    return await new Promise((resolve, reject) => {
      reader.question(isHidden ? '' : `${question.text} `, (line) => {
        isAnswered = true;
        resolve(line);
      });
      reader.on('close', () => resolve(null));
      reader.on('SIGINT', () => reject(new Interruption('SIGINT')));
      // SIGTERM, and SIGINT from another process.
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    reader.close();
    // Enter moves to the next line by itself where keys are shown.
    if (isHidden || !isAnswered) io.stderr.write('\n');
  }
}

function createSink(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

function noTerminalFailure({ flag }: Question): Failure {
  return unansweredFailure(
    `${flag} is missing, and there is no terminal to ask on`,
    `Give ${flag}, or run this on a terminal.`,
  );
}

function noAnswerFailure({ text, flag }: Question): Failure {
  return unansweredFailure(`"${text}" was not answered`, `Run this again and answer, or give ${flag}.`);
}

function unansweredFailure(message: string, advice: string): Failure {
  return usageFailure('NO_ANSWER', message, advice);
}
