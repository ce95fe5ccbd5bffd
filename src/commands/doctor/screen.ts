/** What the terminal can show. */
import type { Io } from '../../context/io.ts';
import type { Result } from './finding.ts';

/** Never fails: vloc writes plain text where a terminal can do no more. */
export function judgeScreen({ stdout, stderr, env, platform }: Io): Result {
  const { NO_COLOR: noColor = null, TERM: term = null } = env;
  const unicode = platform === 'win32' || /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
  const isTerminal = stderr.isTTY === true;
  const facts = {
    stdout_is_terminal: stdout.isTTY === true,
    stderr_is_terminal: isTerminal,
    columns: stderr.columns ?? null,
    color: isTerminal && term !== 'dumb' && (noColor === null || noColor === ''),
    unicode,
    term,
  };
  if (!isTerminal) return { grade: 'ok', message: 'none: plain lines in place of live progress', facts };
  const message = `${facts.columns ?? 80} columns, ${facts.color ? '' : 'no '}colour, ${unicode ? '' : 'no '}Unicode`;
  if (unicode) return { grade: 'ok', message, facts };
  return { grade: 'warn', message, fix: 'Set a UTF-8 locale, such as LANG=C.UTF-8.', facts };
}
