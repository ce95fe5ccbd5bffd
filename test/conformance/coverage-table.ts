/** Finds which rules cover which sentence of the specification. Does no I/O. */
import type { Rule } from './rule.ts';
import type { Sentence, Sentences } from './sentences/sentence.ts';

export interface Gaps {
  /** Sentences without a rule and without a reason why clients cannot observe them. */
  readonly uncovered: readonly string[];
  /** Sentences marked as not observable by clients, but covered by a rule. */
  readonly seenAfterAll: readonly string[];
  /** Rules that cover no sentence, or a sentence that does not exist. */
  readonly homeless: readonly string[];
  /** Ids of rules that occur more than once. */
  readonly repeated: readonly string[];
}

type Sections = Readonly<Record<string, Sentences>>;

const isUnseen = (sentence: Sentence) => typeof sentence !== 'string';

/** Finds gaps between sentences and rules. All lists are empty if the coverage is complete. */
export function findGaps(sections: Sections, rules: readonly Rule[]): Gaps {
  const sentences = Object.values(sections).flatMap((group) => Object.entries(group));
  const known = new Set(sentences.map(([id]) => id));
  const covered = new Set<string>(rules.flatMap(({ covers }) => covers));
  const ids = rules.map(({ id }) => id);
  return {
    uncovered: sentences.filter(([id, text]) => !isUnseen(text) && !covered.has(id)).map(([id]) => id),
    seenAfterAll: sentences.filter(([id, text]) => isUnseen(text) && covered.has(id)).map(([id]) => id),
    homeless: rules
      .filter(({ covers }) => covers.length === 0 || covers.some((id) => !known.has(id)))
      .map(({ id }) => id),
    repeated: ids.filter((id, at) => ids.indexOf(id) !== at),
  };
}

const escapePipes = (text: string) => text.replaceAll('|', '\\|');

function rowOf(id: string, sentence: Sentence, rules: readonly Rule[]): string {
  if (typeof sentence !== 'string')
    return `| ${escapePipes(sentence.text)} | not observable by a client: ${escapePipes(sentence.unseen)} |`;
  const covering = rules
    .filter(({ covers }) => covers.some((each) => each === id))
    .map((rule) => `\`${rule.id}\``);
  return `| ${escapePipes(sentence)} | ${covering.join(' ')} |`;
}

/** Returns tables in Markdown of all sentences and the rules that test each. */
export function formatCoverage(sections: Sections, rules: readonly Rule[]): string {
  const sentences = Object.values(sections).flatMap((group) => Object.values(group));
  const unseen = sentences.filter(isUnseen).length;
  const spec = rules.filter(({ strictness }) => strictness === 'spec').length;
  const tables = Object.entries(sections).map(([title, group]) =>
    [
      `## ${title}`,
      '',
      '| sentence | rules |',
      '| --- | --- |',
      ...Object.entries(group).map(([id, sentence]) => rowOf(id, sentence, rules)),
      '',
    ].join('\n'),
  );
  return `${rules.length} rules: ${spec} test the specification, ${rules.length - spec} our decisions.
${sentences.length} sentences, ${unseen} of which a client cannot observe.

${tables.join('\n')}`;
}
