/** Changes cues in the text of a file: every other character stays. Pure. */
import { type ScannedCue, splitDialogue, TIME } from './read-subtitle.ts';
import { formatAssTime } from './write.ts';

/** A cue of the file with what changes. */
export interface CueEdit {
  readonly cue: ScannedCue;
  /** The text as it is written in the file, in SRT and WebVTT in rows separated by `\n`; null if it stays. */
  readonly written: string | null;
  readonly start_ms: number;
  readonly end_ms: number;
}

/** A row of a file, and the line break behind it. */
interface FileRow {
  readonly content: string;
  readonly end: string;
}

function splitRows(text: string): FileRow[] {
  const parts = text.split(/(\r\n|\r|\n)/);
  return Array.from({ length: Math.ceil(parts.length / 2) }, (_, at) => ({
    content: parts[2 * at] ?? '',
    end: parts[2 * at + 1] ?? '',
  }));
}

/** Writes the changes into the rows of a file, from its end, so that the numbers of earlier rows stay. Adds missing blank rows. */
export function editCues(text: string, edits: readonly CueEdit[]): string {
  const edited = splitRows(text);
  for (const edit of edits.toSorted((left, right) => right.cue.row - left.cue.row)) {
    const { cue, written } = edit;
    const { row } = cue;
    const times = edited[row - 1];
    if (times === undefined) continue;
    if ('columns' in cue.place) {
      edited[row - 1] = { ...times, content: editDialogue(times.content, edit, cue.place.columns) };
      continue;
    }
    const end = times.end || edited[0]?.end || '\n';
    edited[row - 1] = {
      content: editTimes(times.content, edit),
      end: written === null ? times.end : end,
    };
    if (written !== null) {
      const own = edited.slice(row, row + cue.place.textRows);
      const contents = written.split('\n');
      const lines = contents.map((content, at) => ({
        content,
        end: at < contents.length - 1 ? end : (own.at(-1)?.end ?? end),
      }));
      edited.splice(row, own.length, ...lines);
    }
    if (cue.tightRow !== undefined) edited.splice(cue.tightRow - 1, 0, { content: '', end });
  }
  return edited.map(({ content, end }) => content + end).join('');
}

const BOTH_TIMES = new RegExp(String.raw`^(\s*)(${TIME})(\s*-->\s*)(${TIME})`);

/** The settings behind the times stay, and a time that did not change stays as it is written. */
function editTimes(content: string, { cue, start_ms, end_ms }: CueEdit): string {
  // The pattern of a time has four groups of its own.
  return content.replace(BOTH_TIMES, (...[, before, start, , , , , arrow, end]) => {
    const from = start_ms === cue.start_ms ? start : formatLike(start, start_ms);
    const to = end_ms === cue.end_ms ? end : formatLike(end, end_ms);
    return `${before}${from}${arrow}${to}`;
  });
}

/** Writes a time as another is written: with or without hours, and with its separator. */
function formatLike(written: string, ms: number): string {
  const [hours] = written.split(':').length === 3 ? written.split(':') : [];
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(ms / 1000);
  const ofHours = Math.floor(seconds / 3600);
  const head =
    hours === undefined && ofHours === 0 ? '' : `${String(ofHours).padStart(hours?.length ?? 2, '0')}:`;
  const separator = written.includes(',') ? ',' : '.';
  const minutes = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${head}${minutes}${separator}${String(ms % 1000).padStart(3, '0')}`;
}

function editDialogue(
  content: string,
  { cue, written, start_ms, end_ms }: CueEdit,
  columns: readonly string[],
): string {
  const split = splitDialogue(content, columns);
  if (split === null) return content;
  const time = (cell: string, ms: number) => cell.replace(/\d+:\d+:\d+(?:[.:]\d+)?/, formatAssTime(ms));
  const cells = split.cells.map((cell, at) => {
    if (columns[at] === 'start' && start_ms !== cue.start_ms) return time(cell, start_ms);
    if (columns[at] === 'end' && end_ms !== cue.end_ms) return time(cell, end_ms);
    return columns[at] === 'text' && written !== null ? written : cell;
  });
  return split.head + cells.join(',');
}
