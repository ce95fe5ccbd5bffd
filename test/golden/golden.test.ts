/** What every command prints is what was recorded, but for the changes of wording that are listed. */
import { describe, expect, inject, it } from 'vitest';
import { GROUPS, type Group } from './groups.ts';
import {
  applyWording,
  describeEnd,
  type Recording,
  readRecording,
  readWording,
  writeRecording,
} from './recording.ts';
import { nameCase, openStages } from './stage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by `record.ts` alone: cases whose names hold one of these are recorded; none: all. */
    record?: readonly string[];
  }
}

/** A group is some hundred runs, on a machine that may be busy with something else. */
const PATIENCE_MS = 900_000;

const wording = readWording();

/** Runs all cases of a group, one after another: they share a service. */
async function runGroup(group: Group): Promise<Recording> {
  const run = await (group.open ?? openStages)();
  const ends = new Map<string, string>();
  for (const each of group.cases) {
    const name = nameCase(each);
    if (ends.has(name)) throw new Error(`there are two cases with the name "${name}"`);
    ends.set(name, describeEnd(await run(each)));
  }
  return ends;
}

function record(group: Group, ends: Recording, wanted: readonly string[]): void {
  const before = readRecording(group.name);
  const isWanted = (name: string) => wanted.length === 0 || wanted.some((text) => name.includes(text));
  const chosen = [...ends].map(([name, end]): [string, string] => [
    name,
    isWanted(name) ? end : (before.get(name) ?? end),
  ]);
  writeRecording(group.name, new Map(chosen));
}

describe('the output and exit code of vloc are as recorded:', () => {
  for (const group of GROUPS) {
    it(group.name, { timeout: PATIENCE_MS }, async () => {
      const ends = await runGroup(group);
      const wanted = inject('record');
      if (wanted !== undefined) record(group, ends, wanted);
      const recorded = readRecording(group.name);
      expect([...ends.keys()], 'the cases are not those that are recorded').toEqual([...recorded.keys()]);
      for (const [name, end] of ends) {
        expect
          .soft(
            end,
            `${name}\nis not as recorded; see "Change what vloc prints" in .github/CONTRIBUTING.md\n`,
          )
          .toBe(applyWording(recorded.get(name) ?? '', wording));
      }
    });
  }
});

it('every listed change of wording is of a text that was recorded', () => {
  const texts = GROUPS.flatMap(({ name }) => [...readRecording(name).values()]);
  const unused = wording.filter(({ before }) => !texts.some((text) => text.includes(before)));
  expect(unused).toEqual([]);
});
