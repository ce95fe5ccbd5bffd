/** What another language costs, and a run with other options: the stages that they have in common are computed once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { median } from './measure.ts';
import { runTimed } from './timed-run.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const VIDEO = here('../test/fixtures/sample.mp4');
const LANGUAGES = ['es', 'ca'];
/** The share of one language that each further one may cost. */
const FURTHER = 0.2;
const ROUNDS = 3;

/** CPU time of each way in one round, in seconds. */
interface Round {
  readonly one: number;
  readonly several: number;
  readonly bare: number;
  readonly again: number;
}

export async function measureLanguages(): Promise<readonly Figure[]> {
  const rounds = Array.from({ length: ROUNDS }, measureRound);
  const ratio = (way: keyof Round) => median(rounds.map((round) => round[way] / round.one));
  const count = LANGUAGES.length;
  return [
    {
      name: `\`vloc localize\` of the sample in ${count} languages ÷ in one, CPU`,
      value: ratio('several'),
      limit: { atMost: 1 + FURTHER * (count - 1) },
      unit: '×',
    },
    { name: 'the engines called bare for each language ÷ the same, CPU', value: ratio('bare'), unit: '×' },
    {
      name: 'the same video and language with other options ÷ the same, CPU',
      value: ratio('again'),
      limit: { atMost: FURTHER },
      unit: '×',
    },
  ];
}

function measureRound(): Round {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const cpu = (command: readonly string[], state = 'none') =>
    runTimed([process.execPath, ...command], { VLOC_PROFILE: 'local', VLOC_STATE_DIR: join(folder, state) })
      .cpuSeconds;
  const localize = (state: string, languages: readonly string[], options: readonly string[] = []) => {
    const out = ['--out', join(folder, 'out'), '--clobber'];
    const words = ['localize', VIDEO, '--from', 'en', '--to', languages.join(','), ...out, ...options];
    return cpu([here('../bin/vloc.js'), ...words], state);
  };
  try {
    return {
      one: localize('one', LANGUAGES.slice(0, 1)),
      several: localize('several', LANGUAGES),
      bare: LANGUAGES.reduce((sum, language) => sum + cpu([here('bare-engines.ts'), VIDEO, language]), 0),
      again: localize('one', LANGUAGES.slice(0, 1), ['--subtitle-output', 'soft']),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
