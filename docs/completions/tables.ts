/** What the scripts of several shells have in common: the values of options, put together where places agree. */
import type { Place } from './model.ts';
import type { Value } from './values.ts';

/** First line of every script, behind the sign for a comment. */
export const HEADER = 'Made by `npm run generate` from the table of commands; changes here are lost.';

/** The words of a place as one text; '' for the root. */
export function placeName({ words }: Place): string {
  return words.join(' ');
}

/** Every way to write the options of a place. */
export function flagsOf({ options }: Place): string[] {
  return options.flatMap(({ long, short }) => (short === null ? [long] : [long, short]));
}

/** `,choices a b`, `source jobs`, `files`: a value as the scripts of bash and PowerShell read it. */
export function encodeValue(value: Value): string {
  return `${value.list ? ',' : ''}${encodeOffer(value)}`;
}

function encodeOffer(value: Value): string {
  switch (value.type) {
    case 'choices':
      return `choices ${value.choices.join(' ')}`;
    case 'source':
      return `source ${value.source}`;
    default:
      return value.type;
  }
}

export interface FlagValue {
  readonly flag: string;
  readonly value: Value;
  /** Names of the places where it is so; null for all that have the flag. */
  readonly places: readonly string[] | null;
}

/** Every flag that takes a value, with its value; a row for each value where places differ. */
export function listFlagValues(places: readonly Place[]): FlagValue[] {
  const uses = places.flatMap((place) =>
    place.options.flatMap(({ long, short, value }) =>
      [long, short].flatMap((flag) => (flag === null ? [] : [{ flag, value, place: placeName(place) }])),
    ),
  );
  return [...Map.groupBy(uses, ({ flag }) => flag)].flatMap(([flag, ofFlag]) => {
    const byValue = Map.groupBy(ofFlag, ({ value }) => (value === null ? '' : encodeValue(value)));
    return [...byValue.values()].flatMap((same) => {
      const value = same[0]?.value ?? null;
      const where = byValue.size === 1 ? null : same.map(({ place }) => place);
      return value === null ? [] : [{ flag, value, places: where }];
    });
  });
}
