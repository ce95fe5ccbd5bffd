import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layOut } from '../../../../src/cli/terminal/table.ts';
import { OUTPUT_MODES, type OutputMode, outputTo } from '../../../../src/commands/context/output/forms.ts';
import {
  JSON_ONLY,
  type Presentation,
  presentLine,
} from '../../../../src/commands/context/output/presentation.ts';
import { createCallTerminal } from '../../../../src/commands/mcp/call.ts';

function open(mode: OutputMode) {
  const printed: string[] = [];
  const notes: string[] = [];
  const table = async (...shown: Parameters<typeof layOut>) => layOut(...shown);
  const terminal = { ...createCallTerminal(notes, () => undefined), table };
  return { ...outputTo(mode, (text) => printed.push(text), terminal), printed, notes };
}

/** What each form prints of it. */
async function showAll(shown: Presentation): Promise<Record<string, readonly string[]>> {
  const entries = OUTPUT_MODES.map(async (mode) => {
    const { present, printed, notes } = open(mode);
    await present.show(shown);
    return [mode, [...printed, ...notes]] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const HEAD = ['A', 'B'];
const DOCUMENT = () => ({ a: 1 });

describe('an output form', () => {
  it('prints its own part, and notes only for people', async () => {
    const shown: Presentation = {
      document: DOCUMENT,
      events: () => [{ type: 'a' }, { type: 'b' }],
      rows: () => [['1', '2'], ['3']],
      names: () => ['c', 'd'],
      ids: () => ['x', 'y'],
      pages: () => ['first', { head: HEAD, rows: [['1', '2']] }],
      notes: () => ['look'],
    };
    expect(await showAll(shown)).toEqual({
      table: ['first', 'A  B\n1  2', 'look'],
      json: ['{\n  "a": 1\n}'],
      ndjson: ['{"type":"a"}', '{"type":"b"}'],
      csv: ['c,d\n1,2\n3'],
      plain: ['1\t2', '3'],
      id: ['x', 'y'],
    });
  });

  it('prints the document as JSON without its own part, on one line unless it is for people or json', async () => {
    const [indented, line] = ['{\n  "a": 1\n}', '{"a":1}'];
    expect(await showAll({ document: DOCUMENT })).toEqual({
      ...{ table: [indented], json: [indented] },
      ...{ ndjson: [line], csv: [line], plain: [line], id: [line] },
    });
    expect(await showAll({})).toEqual({ table: [], json: [], ndjson: [], csv: [], plain: [], id: [] });
  });

  it('prints a small document on one line, or nothing or a text where it is not JSON', async () => {
    const json = { json: ['{"a":1}'], ndjson: ['{"a":1}'] };
    const text = { table: ['one'], csv: ['one'], plain: ['one'], id: ['one'] };
    expect(await showAll(presentLine({ a: 1 }, 'one'))).toEqual({ ...json, ...text });
    const none = { table: [], csv: [], plain: [], id: [] };
    expect(await showAll({ ...JSON_ONLY, document: DOCUMENT, isLine: true })).toEqual({ ...json, ...none });
  });

  it('of events prints one before the call returns; others print none', () => {
    const all = OUTPUT_MODES.map((mode) => {
      const { present, printed } = open(mode);
      present.event({ type: 'a' });
      return [mode, printed];
    });
    expect(Object.fromEntries(all)).toEqual({
      ndjson: ['{"type":"a"}'],
      table: [],
      json: [],
      csv: [],
      plain: [],
      id: [],
    });
  });

  it('for people prints a table row by row under one head', async () => {
    const { present, printed } = open('table');
    for (const [at, row] of [
      ['1', '2'],
      ['3', '4'],
    ].entries())
      await present.show({ pages: () => [{ head: HEAD, rows: [row], isNext: at > 0 }] });
    expect(printed).toEqual(['A  B\n1  2', '3  4']);
  });

  it('for spreadsheets keeps each cell as it is, and makes text of what would be a formula', async () => {
    const cell = fc.oneof(
      fc.string(),
      fc.constantFrom('a,b', 'say "x"', 'two\nlines', '-5', '+1.5', '=1+1', '@x', '-x'),
    );
    const property = fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1 }), async (rows) => {
      const { present, printed } = open('csv');
      await present.show({ rows: () => rows, names: () => ['one', 'other'] });
      const [head, ...read] = parse(printed.join('\n'), { skip_empty_lines: false });
      expect(head).toEqual(['one', 'other']);
      const isFormula = (text: string) => /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text));
      expect(read).toEqual(rows.map((cells) => cells.map((text) => (isFormula(text) ? `'${text}` : text))));
    });
    await fc.assert(property);
  });
});
