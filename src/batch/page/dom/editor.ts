/** Fields for texts of files, and what saves them. */
import type { Edits, FileText } from '../edits.ts';
import { languageAttribute, makeElement } from './element.ts';
import { saveFile } from './save.ts';

interface TextField {
  readonly node: HTMLElement;
  readonly field: HTMLTextAreaElement;
  /** Takes the text that another view has changed. */
  refresh(): void;
}

interface FieldLabels {
  /** Different for each field on the page. */
  readonly id: string;
  readonly name: string;
  readonly language: string | null;
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** A field for a text, with its fault, and a button that takes back what was changed. */
export function makeTextField(edits: Edits, cue: FileText, labels: FieldLabels): TextField {
  const { id, name, language, attributes } = labels;
  const fault = makeElement('p', { class: 'notice', id: `fault-${id}`, role: 'alert' });
  const field = makeElement('textarea', {
    rows: Math.max(2, cue.place.rows),
    dir: 'auto',
    lang: languageAttribute(language),
    'aria-label': name,
    'aria-errormessage': `fault-${id}`,
    ...attributes,
  });
  const undo = makeElement('button', { type: 'button', 'aria-label': `Undo: ${name}`, hidden: true }, 'Undo');
  const change = (text: string) => {
    const problem = edits.change(cue, text);
    fault.textContent = problem ?? '';
    field.setAttribute('aria-invalid', String(problem !== null));
  };
  const refresh = () => {
    const text = edits.textOf(cue);
    if (field.value !== text) field.value = text;
    undo.hidden = text === cue.text;
  };
  field.addEventListener('input', () => change(field.value));
  undo.addEventListener('click', () => {
    // Its button is gone then.
    field.focus();
    change(cue.text);
    refresh();
  });
  refresh();
  return { node: makeElement('div', { class: 'editor' }, field, fault, undo), field, refresh };
}

/** How many texts are changed, a button for each file with such, and then the command that follows. */
export function makeChanges(edits: Edits, folder: string): { readonly node: HTMLElement; refresh(): void } {
  const count = makeElement('p', { role: 'status' });
  const buttons = makeElement('div', { class: 'buttons' });
  const status = makeElement('p', { class: 'saved', role: 'status' });
  const next = makeElement('div', { class: 'next' });
  const node = makeElement(
    'section',
    { class: 'changes', 'aria-label': 'Changed lines', hidden: true },
    ...[count, buttons, status, next],
  );
  const saves = new Map<number, HTMLButtonElement>();

  const save = (at: number, path: string, changed: number) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    void saveFile(name, edits.contentOf(at)).then(
      (way) => {
        if (way === 'cancelled') return;
        const what = `${name} with ${countLines(changed)}`;
        status.textContent =
          way === 'saved' ? `Saved ${what}.` : `Downloaded ${what}: put it in the place of ${path}.`;
        edits.markSaved(at);
      },
      (error: unknown) => {
        status.textContent = `It was not saved: ${String(error)}`;
      },
    );
  };

  const refresh = () => {
    const changed = edits.changed();
    const lines = changed.reduce((sum, file) => sum + file.count, 0);
    const unsaved = changed.filter(({ isUnsaved }) => isUnsaved);
    node.hidden = changed.length === 0;
    for (const [at, button] of saves) button.hidden = !changed.some((each) => each.at === at);
    const words = `${countLines(lines)}${unsaved.length > 0 ? ', not saved' : ''}`;
    if (count.textContent !== words) count.textContent = words;
    for (const { at, file, isFaulty } of changed) {
      const name = file.path.slice(file.path.lastIndexOf('/') + 1);
      const button = saves.get(at) ?? makeElement('button', { type: 'button' }, `Save ${name}`);
      if (!saves.has(at)) {
        button.addEventListener('click', () =>
          save(at, file.path, edits.changed().find((each) => each.at === at)?.count ?? 0),
        );
        saves.set(at, button);
        buttons.append(button);
      }
      button.disabled = isFaulty;
    }
    const commands = new Set(changed.flatMap(({ file }) => file.command ?? []));
    const isOver = unsaved.length === 0 && commands.size > 0;
    next.replaceChildren(...(isOver ? [...commands].map((command) => makeCommand(command, folder)) : []));
  };
  return { node, refresh };
}

/** A command, the folder for it, and a button that copies it. */
export function makeCommand(command: string, folder: string): HTMLElement {
  const code = makeElement('code', {}, command);
  const copy = makeElement('button', { type: 'button' }, 'Copy');
  copy.addEventListener('click', () => {
    getSelection()?.selectAllChildren(code);
    // Some browsers have no clipboard for local files; then the selection is there to be copied.
    const copied = navigator.clipboard?.writeText(command) ?? Promise.reject(new Error('no clipboard'));
    copied.then(
      () => copy.replaceChildren('Copied'),
      () => copy.replaceChildren('Selected: copy it'),
    );
  });
  return makeElement(
    'p',
    { class: 'command' },
    'Then run in ',
    makeElement('code', {}, folder),
    ': ',
    code,
    copy,
  );
}

function countLines(count: number): string {
  return count === 1 ? '1 changed line' : `${count} changed lines`;
}
