/** Lines as somebody types them up to Tab, with what a shell must offer and nothing else; `test/cli/complete.test.ts` has every command. */

import { join } from 'node:path';
import { expect } from 'vitest';
import { OUTPUT_MODES } from '../../../src/commands/context/output/forms.ts';
import { awaitPacked } from '../../e2e/install.ts';
import { type Desk, openDesk } from './desk.ts';

/** Each starts vloc once; seconds on a machine that has nothing else to do. */
export const MINUTES = 60_000;

const LINES: Readonly<Record<string, readonly string[]>> = {
  'vloc loc': ['localize'],
  'vloc credits ': ['history'],
  'vloc nonsense ': [],
  'vloc jobs nonsense ': [],
  'vloc jobs list --sta': ['--status'],
  'vloc jobs list --limit ': [],
  'vloc jobs list --output=n': ['--output=ndjson'],
  'vloc jobs list --output=': OUTPUT_MODES.map((mode) => `--output=${mode}`),
  'vloc jobs list --kind dubbing,a': ['dubbing,audio_separation', 'dubbing,auto_localization'],
  'vloc jobs get --profile ': ['local', 'staging'],
  'vloc jobs get --profile "st': ['staging'],
  'vloc --profile staging jobs wait ': ['dub_newer', 'loc_older'],
  "vloc 'jobs' wait loc_older --output=json d": ['dub_newer'],
  'vloc dub my\\ file.srt --voice-mode f': ['female'],
  'vloc engines remove qwen3:4': ['qwen3:4b'],
};

/** A desk where the packed vloc is on the PATH. */
export async function openPackedDesk(): Promise<Desk> {
  return openDesk(join((await awaitPacked()).prefix, 'bin/vloc'));
}

/** Checks the lines. @param complete returns what is offered for each line, without descriptions */
export async function checkLines(
  complete: (lines: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>,
): Promise<void> {
  const offered = await complete(Object.keys(LINES));
  for (const [line, words] of Object.entries(LINES)) {
    expect([line, offered.get(line)?.toSorted()]).toEqual([line, words.toSorted()]);
  }
}

/** The candidates after each `COMPLETED line`. */
export function readOffered(output: string): Map<string, string[]> {
  const parts = output.split(/^COMPLETED /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [line = '', ...candidates] = part.split('\n');
      return [line, candidates.filter((each) => each !== '')];
    }),
  );
}
