import * as v from 'valibot';
import { expect, it } from 'vitest';
import { shapeOf } from '../../src/protocol/shape.ts';

interface Line {
  readonly index: number;
  readonly text: string | null;
  readonly note?: string;
}

// Each of these comments is itself an error for the compiler when the line below it compiles.
it('a validator that differs from its type does not compile', () => {
  const right = { index: v.number(), text: v.nullable(v.string()), note: v.exactOptional(v.string()) };
  const schema = v.strictObject(right);
  expect(shapeOf<Line>()(schema)).toBe(schema);
  // @ts-expect-error a field of another type
  shapeOf<Line>()(v.strictObject({ ...right, index: v.string() }));
  // @ts-expect-error a field that may not be null
  shapeOf<Line>()(v.strictObject({ ...right, text: v.string() }));
  // @ts-expect-error a field too many
  shapeOf<Line>()(v.strictObject({ ...right, more: v.string() }));
  // @ts-expect-error an optional field too many
  shapeOf<Line>()(v.strictObject({ ...right, more: v.exactOptional(v.string()) }));
  // @ts-expect-error a field too few
  shapeOf<Line>()(v.strictObject({ index: right.index, text: right.text }));
});
