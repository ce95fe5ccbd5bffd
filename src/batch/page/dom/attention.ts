/** The cues that need a person: those with the most reasons first, their texts to edit, and the files to save. */
import { nameCue, nameRow } from '../../../protocol/subtitle-line.ts';
import type { ReportAttention, ReportAttentionFile, ReportPlace } from '../../report/page-facts.ts';
import { type CueEdit, editCues, findEditFault } from '../edit.ts';
import { formatCueTime } from '../words.ts';
import { languageAttribute, makeElement } from './element.ts';
import { saveFile } from './save.ts';

export interface AttentionView {
  readonly node: HTMLElement;
  /** Whether a text was changed and not saved. */
  isUnsaved(): boolean;
}

/** A file that is being edited. */
interface OpenFile {
  readonly file: ReportAttentionFile;
  /** Changed texts, by the row of their times. */
  readonly edits: Map<number, CueEdit>;
  /** Rows of texts that cannot be saved. */
  readonly faults: Set<number>;
  readonly cards: Card[];
  isUnsaved: boolean;
}

interface Card {
  readonly save: HTMLButtonElement;
  readonly status: HTMLElement;
}

export function makeAttention({ places, files }: ReportAttention): AttentionView {
  const open = files.map(
    (file): OpenFile => ({ file, edits: new Map(), faults: new Set(), cards: [], isUnsaved: false }),
  );
  const cards = places.map((place, at) => makeCard(place, at, open[place.file ?? -1] ?? null));
  const lead =
    'The most reasons first. Edit a text, save its file, and run the command that is shown then. Nothing is sent from here.';
  const node = makeElement(
    'article',
    { class: 'entry attention', 'aria-labelledby': 'attention-title' },
    makeElement('header', {}, makeElement('h2', { id: 'attention-title', tabindex: -1 }, 'Needs a person')),
    makeElement('p', {}, lead),
    // Without the role, Safari does not announce a list that has no markers.
    makeElement('ol', { role: 'list', 'aria-label': 'Places' }, ...cards),
  );
  return { node, isUnsaved: () => open.some(({ isUnsaved }) => isUnsaved) };
}

function makeCard(place: ReportPlace, at: number, open: OpenFile | null): HTMLElement {
  const { item, cue, row, start_ms, source, text, reasons } = place;
  const file = open?.file ?? null;
  const name = file?.path ?? item;
  const where = cue === null ? name : nameCue(name, cue);
  const time = start_ms === null ? '' : ` at ${formatCueTime(start_ms)}`;
  const title = makeElement('h3', { id: `place-${at}`, dir: 'auto' }, `${where}${time}`);
  const known = reasons.map(({ code, detail }) =>
    makeElement('li', {}, makeElement('code', {}, code), ` ${detail}`),
  );
  const editor = open !== null && makeEditor(place, open, where, at);
  const advice =
    file !== null && editor === false
      ? makeElement(
          'p',
          { class: 'advice' },
          `Edit ${nameRow(file.path, row)} in an editor.`,
          ...makeCommand(file),
        )
      : null;
  return makeElement(
    'li',
    { class: 'place' },
    title,
    makeElement('ul', { class: 'reasons', role: 'list', 'aria-label': 'Reasons' }, ...known),
    source !== null && makeElement('p', { class: 'text', dir: 'auto' }, source),
    editor === false && text !== null && makeElement('p', { class: 'text', dir: 'auto' }, text),
    editor,
    advice,
    file !== null &&
      file.entry !== null &&
      makeElement(
        'p',
        {},
        makeElement('a', { href: `#${file.entry}`, 'aria-describedby': `place-${at}` }, 'Watch the video'),
      ),
  );
}

/** False for a place that cannot be edited here. */
function makeEditor(
  { edit, text }: ReportPlace,
  open: OpenFile,
  where: string,
  at: number,
): HTMLElement | false {
  const { file } = open;
  const whole = file.text;
  if (edit === null || text === null || whole === null) return false;
  const fault = makeElement('p', { class: 'notice', id: `fault-${at}`, role: 'alert' });
  const field = makeElement('textarea', {
    rows: Math.max(2, edit.rows),
    dir: 'auto',
    lang: languageAttribute(file.language),
    'aria-label': `Text of ${where}`,
    'aria-describedby': `place-${at}`,
    'aria-errormessage': `fault-${at}`,
  });
  field.value = text;
  const name = file.path.slice(file.path.lastIndexOf('/') + 1);
  const save = makeElement('button', { type: 'button', disabled: true }, `Save ${name}`);
  const status = makeElement('p', { class: 'saved', role: 'status' });
  open.cards.push({ save, status });
  field.addEventListener('input', () => {
    const problem = field.value === text ? null : findEditFault(whole, { place: edit, text: field.value });
    fault.textContent = problem ?? '';
    field.setAttribute('aria-invalid', String(problem !== null));
    if (problem === null) open.faults.delete(edit.row);
    else open.faults.add(edit.row);
    if (field.value === text) open.edits.delete(edit.row);
    else open.edits.set(edit.row, { place: edit, text: field.value });
    open.isUnsaved = true;
    for (const card of open.cards) card.save.disabled = open.faults.size > 0;
  });
  save.addEventListener('click', () => {
    const edits = [...open.edits.values()];
    void saveFile(name, editCues(whole, edits)).then(
      (way) => {
        if (way === 'cancelled') return;
        open.isUnsaved = false;
        const count = edits.length === 1 ? '1 changed cue' : `${edits.length} changed cues`;
        const words =
          way === 'saved'
            ? `Saved ${name} with ${count}.`
            : `Downloaded ${name} with ${count}: put it in the place of ${file.path}.`;
        status.replaceChildren(words, ...makeCommand(file));
      },
      (error: unknown) => status.replaceChildren(`It was not saved: ${String(error)}`),
    );
  });
  return makeElement('div', { class: 'editor' }, field, fault, save, status);
}

function makeCommand({ command }: ReportAttentionFile): (string | Node)[] {
  return command === null ? [] : [' Then run ', makeElement('code', {}, command)];
}
