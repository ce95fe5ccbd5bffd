/** The command behind a gate: pure. */
import { quoteForShell } from '../format.ts';
import { programWords } from '../job/continuation.ts';

/** Options that belong to the stages before the gate, with whether a value follows them. */
const LEFT_OUT: Readonly<Record<string, boolean>> = {
  '--stop-after': true,
  // What was made before the gate would be made anew, and paid.
  '--fresh': false,
};

/** The same command, from the subtitles that now lie beside the videos. */
export function goOnCommand(
  commandLine: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string {
  const words: string[] = [];
  for (let at = 0; at < commandLine.length; at += 1) {
    const word = commandLine[at] ?? '';
    const [flag = ''] = word.split('=', 1);
    const takesValue = LEFT_OUT[flag];
    if (takesValue === undefined) words.push(word);
    else if (takesValue && !word.includes('=')) at += 1;
  }
  if (!words.includes('--from-subtitles')) words.push('--from-subtitles');
  return [...programWords(env), ...words].map(quoteForShell).join(' ');
}
