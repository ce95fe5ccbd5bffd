/** The cues that need a person: those with the most reasons first, their texts to edit. */
import { nameCue, nameRow } from '../../../protocol/subtitle-line.ts';
import type { ReportPlace, ReportTextFile } from '../../report/page-facts.ts';
import type { Edits } from '../edits.ts';
import { formatCueTime } from '../words.ts';
import { makeCommand, makeTextField } from './editor.ts';
import { makeElement } from './element.ts';

interface AttentionTask {
  readonly places: readonly ReportPlace[];
  readonly files: readonly ReportTextFile[];
  readonly edits: Edits;
  /** Where commands are run; null for a page without them. */
  readonly folder: string | null;
}

export function makeAttention(task: AttentionTask): HTMLElement {
  const cards = task.places.map((place, at) => makeCard(place, at, task));
  const then =
    task.folder === null ? 'and save its file' : 'save its file, and run the command that is shown then';
  const lead = `The most reasons first. Edit a text, ${then}. Nothing is sent from here.`;
  return makeElement(
    'article',
    { class: 'entry attention', 'aria-labelledby': 'attention-title' },
    makeElement('header', {}, makeElement('h2', { id: 'attention-title', tabindex: -1 }, 'Needs a person')),
    makeElement('p', {}, lead),
    // Without the role, Safari does not announce a list that has no markers.
    makeElement('ol', { role: 'list', 'aria-label': 'Places' }, ...cards),
  );
}

function makeCard(place: ReportPlace, at: number, { files, edits, folder }: AttentionTask): HTMLElement {
  const { item, cue, row, start_ms, source, text, reasons } = place;
  const file = files[place.file ?? -1] ?? null;
  const name = file?.path ?? item;
  const where = cue === null ? name : nameCue(name, cue);
  const time = start_ms === null ? '' : ` at ${formatCueTime(start_ms)}`;
  const title = makeElement('h3', { id: `place-${at}`, dir: 'auto' }, `${where}${time}`);
  const known = reasons.map(({ code, detail }) =>
    makeElement('li', {}, makeElement('code', {}, code), ` ${detail}`),
  );
  const editor = makeEditor(place, file, edits, where, at);
  const advice =
    file !== null && editor === null
      ? [
          makeElement('p', { class: 'advice' }, `Edit ${nameRow(file.path, row)} in an editor.`),
          file.command !== null && folder !== null && makeCommand(file.command, folder),
        ]
      : [];
  return makeElement(
    'li',
    { class: 'place' },
    title,
    makeElement('ul', { class: 'reasons', role: 'list', 'aria-label': 'Reasons' }, ...known),
    source !== null && makeElement('p', { class: 'text', dir: 'auto' }, source),
    editor === null && text !== null && makeElement('p', { class: 'text', dir: 'auto' }, text),
    editor,
    ...advice,
    file !== null &&
      file.entry !== null &&
      makeElement(
        'p',
        {},
        makeElement('a', { href: `#${file.entry}`, 'aria-describedby': `place-${at}` }, 'Watch the video'),
      ),
  );
}

/** Null for a place that cannot be edited here. */
function makeEditor(
  { edit, text, file: index }: ReportPlace,
  file: ReportTextFile | null,
  edits: Edits,
  where: string,
  at: number,
): HTMLElement | null {
  if (edit === null || text === null || index === null || file === null) return null;
  const { node, refresh } = makeTextField(
    edits,
    { file: index, place: edit, text },
    {
      id: `place-${at}`,
      name: `Text of ${where}`,
      language: file.language,
      attributes: { 'aria-describedby': `place-${at}` },
    },
  );
  edits.listen(refresh);
  return node;
}
