/** Lists the texts of `src` that no recorded case prints: `node test/golden/unmet.ts`. They help to choose new cases. */
import { parseSync, Visitor } from 'rolldown/utils';
import { readModules } from '../structure/modules.ts';
import { GROUPS } from './groups.ts';
import { readRecording } from './recording.ts';

/** Texts of pages, documents, logs and other programs, which no command prints. */
const ELSEWHERE =
  /^src\/(report-page|batch\/report\/html|engines\/(media|separate)|service\/(http\/openapi|store|operate)|protocol\/openapi)/;

/** What a sentence has: three words in a row. */
const WORDS = /[a-z]{2,},? [a-z]+ [a-z]+/i;

/** What is for the store, not for people. */
const STATEMENT = /^(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WITH|BEGIN) /;

const squeeze = (text: string) => text.replace(/\s+/g, ' ');
const recorded = squeeze(GROUPS.flatMap(({ name }) => [...readRecording(name).values()]).join('\n'));

/** The longest part of a text that is written in it unchanged, without inserted values. */
function findTexts(path: string, text: string): { line: number; shown: string; fixed: string }[] {
  const found: { line: number; shown: string; fixed: string }[] = [];
  const add = (start: number, parts: readonly string[]) => {
    const fixed = squeeze([...parts].sort((left, right) => right.length - left.length)[0] ?? '').trim();
    const line = text.slice(0, start).split('\n').length;
    if (WORDS.test(fixed) && !STATEMENT.test(fixed))
      found.push({ line, shown: squeeze(parts.join('…')), fixed });
  };
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string') add(node.start, [node.value]);
    },
    TemplateLiteral: (node) =>
      add(
        node.start,
        node.quasis.map(({ value }) => value.cooked ?? value.raw),
      ),
  }).visit(parseSync(path, text).program);
  return found;
}

const isRecorded = (fixed: string) => {
  const json = JSON.stringify(fixed).slice(1, -1);
  const capital = fixed.charAt(0).toUpperCase() + fixed.slice(1);
  return [fixed, json, capital].some((text) => recorded.includes(text));
};

let count = 0;
let unmet = 0;
for (const { path, text } of readModules('src').filter((module) => !ELSEWHERE.test(module.path))) {
  for (const { line, shown, fixed } of findTexts(path, text)) {
    count += 1;
    if (isRecorded(fixed)) continue;
    unmet += 1;
    process.stdout.write(`${path}:${line}: ${shown}\n`);
  }
}
process.stdout.write(`${unmet} of ${count} texts are in no recording.\n`);
