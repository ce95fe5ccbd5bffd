/** What people should know of the subtitles that they have edited or brought along, before anything is sent. */
import type { InputProblem } from '../batch/plan/input.ts';
import type { Terminal } from '../context/context.ts';
import type { SubtitleProblem } from '../prepare/index.ts';
import type { SubtitleReport } from './given-subtitle.ts';

/** Of each file; the rest is counted. A file in which every cue is too fast would hide what is wrong in the next. */
const MOST_TOLD = 20;

/** Reports changes and warnings. */
export async function tellReports(
  reports: readonly SubtitleReport[],
  { note }: Pick<Terminal, 'note'>,
): Promise<void> {
  for (const report of reports) {
    await tellChanges(report, note);
    const { label, findings } = report;
    const warnings = findings.filter(({ severity }) => severity === 'warning');
    for (const finding of warnings.slice(0, MOST_TOLD))
      note(`${placeOf(label, finding)}: ${describe(finding)}`);
    if (warnings.length > MOST_TOLD) note(`${label}: and ${warnings.length - MOST_TOLD} more of the kind`);
  }
}

/** What makes a subtitle file unusable. */
export function problemsOf({ label, findings }: SubtitleReport): readonly InputProblem[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return errors.map((finding) => ({ pointer: placeOf(label, finding), detail: describe(finding) }));
}

/** `talk.es.srt:12`, as compilers write it and editors open it. */
function placeOf(label: string, { row }: SubtitleProblem): string {
  return row === null ? label : `${label}:${row}`;
}

function describe({ time, cue, message, advice }: SubtitleProblem): string {
  const what = cue === 0 ? '' : `${time} cue ${cue}: `;
  return `${what}${message}; ${advice}`;
}

async function tellChanges({ label, changes }: SubtitleReport, note: Terminal['note']): Promise<void> {
  if (changes === null) return;
  const count = changes.changes.length;
  const cues = count === 1 ? '1 cue' : `${count} cues`;
  note(`${label}: ${cues} changed, ${changes.same} unchanged`);
  const { describeChange } = await import('../prepare/subtitles/compare.ts');
  for (const change of changes.changes.slice(0, MOST_TOLD)) {
    for (const row of describeChange(change)) note(`  ${row}`);
  }
  if (count > MOST_TOLD) note(`  and ${count - MOST_TOLD} more`);
}
