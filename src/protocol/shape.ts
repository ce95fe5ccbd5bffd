/** Validators of exactly one type. Pure. */
import type * as v from 'valibot';

/** Removes `readonly`, which only says who may write and does not affect the JSON. */
type Written<T> = T extends readonly (infer Item)[]
  ? Written<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Written<T[Name]> }
    : T;

/** True only for identical types: assignability would accept missing optional fields. */
type Identical<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

type SameShape<Type, S extends v.GenericSchema> =
  Identical<Written<Type>, Written<v.InferOutput<S>>> extends true ? S : never;

/** Returns a validator of exactly `Type`. Any other validator does not compile. */
export function shapeOf<Type>(): <S extends v.GenericSchema>(schema: SameShape<Type, S>) => S {
  return (schema) => schema;
}
